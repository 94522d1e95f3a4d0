# 96 MiB are copied 64 KiB at a time and synced
# set-up: mkdir in
# set-up: dd if=/dev/zero of=in/a bs=1M count=96 2>/dev/null
dd if=in/a of=out/a bs=64k conv=fsync 2>/dev/null
