# one file of 96 MiB is copied
# set-up: mkdir in
# set-up: dd if=/dev/zero of=in/a bs=1M count=96 2>/dev/null
cp in/a out/a
