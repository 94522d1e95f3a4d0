# a repository is cloned with copies of its objects
# set-up: mkdir in
# set-up: i=0; while [ $i -lt 24 ]; do mkdir -p in/tree/d$i; k=0; while [ $k -lt 10 ]; do seq $i $((i + 3000 + 500 * k)) > in/tree/d$i/f$k; k=$((k + 1)); done; i=$((i + 1)); done
# set-up: cd in/tree
# set-up: git init -q --template= .
# set-up: git add .
# set-up: git -c user.name=a -c user.email=a@example.org commit -q -m all
# set-up: cd ../..
git clone -q --template= --no-hardlinks in/tree out/clone
