# 240 files of 14 to 40 kB and one of 64 MiB are packed
# set-up: mkdir in
# set-up: i=0; while [ $i -lt 24 ]; do mkdir -p in/tree/d$i; k=0; while [ $k -lt 10 ]; do seq $i $((i + 3000 + 500 * k)) > in/tree/d$i/f$k; k=$((k + 1)); done; i=$((i + 1)); done
# set-up: dd if=/dev/zero of=in/tree/large bs=1M count=64 2>/dev/null
tar -cf out/tree.tar in/tree
