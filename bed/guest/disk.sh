# make_disk KIND MOUNT WRITE_BPS READ_BPS: a disk in memory with an ext4 file system on it. Sets DEVICE, its MAJOR:MINOR.
#   zram    limited by the block layer's throttle (cgroup v1, root), which lets any number of requests wait
#   queue   a loop device on that zram: at most 128 requests at once wait, as at a disk's own queue
# zram stores a page of one repeated byte as that byte: as long as files hold nothing else, they need no memory.
make_disk() {
    echo 8G >/sys/block/zram0/disksize
    case $1 in
    zram) block=/dev/zram0 ;;
    queue)
        block=$(/losetup --find --show --direct-io=on /dev/zram0)
        ;;
    *)
        echo "disk.sh: no disk '$1'; there are zram and queue" >&2
        return 1
        ;;
    esac
    /mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 "$block"
    mkdir -p "$2" /cgroup1
    mount -t ext4 -o noatime "$block" "$2"
    DEVICE=$(cat "/sys/block/${block#/dev/}/dev")
    mount -t cgroup -o blkio none /cgroup1
    echo "$(cat /sys/block/zram0/dev) $3" >/cgroup1/blkio.throttle.write_bps_device
    echo "$(cat /sys/block/zram0/dev) $4" >/cgroup1/blkio.throttle.read_bps_device
}
