# the same with a write-ahead log
# set-up: mkdir in
# set-up: sqlite3 in/db 'create table t (k integer primary key, v text); with recursive n (i) as (select 1 union all select i + 1 from n where i < 40000) insert into t select i, hex(i * 7919) || hex(zeroblob(40)) from n;'
# set-up: sqlite3 in/db 'pragma journal_mode = wal' > /dev/null
cp in/db out/db
i=0
while [ $i -lt 20 ]; do
    echo "begin; update t set v = v || 'x' where k % 2000 = $i * 3; insert into t (v) values ('$i'); commit;"
    i=$((i + 1))
done | sqlite3 out/db
