# Disks in memory with an ext4 file system on them, and their limits. zram stores a page of one repeated byte as that byte: as long as files
# hold nothing else, they need no memory.

# make_disk KIND MOUNT ATTRIBUTES FS OPTIONS JOURNAL SCHEDULER JOURNAL_DEVICE: sets DEVICE, the disk's MAJOR:MINOR, and LIMITED, that of the device that is to be limited.
#   zram    any number of requests waits for the limit
#   queue   a loop device on that zram: at most 128 requests wait, as at a disk's own queue
#   null    null_blk, whose time, rate and queue are its own; it is not limited. With a JOURNAL_DEVICE of 1 a second one is the journal.
make_disk() {
    [ "$1" = null ] || echo 8G >/sys/block/zram0/disksize
    journal_device=
    case $1 in
    zram) block=/dev/zram0 ;;
    queue) block=$(/losetup --find --show --direct-io=on /dev/zram0) ;;
    null)
        mount -t configfs none /sys/kernel/config
        make_null nullb0 "$3" "$7" && block=/dev/nullb0
        if [ "$8" = 1 ]; then
            make_null nullb1 "size=$6,${3#*,}" "$7" && journal_device=/dev/nullb1
        fi
        ;;
    *)
        echo "disk.sh: no disk '$1'; there are zram, queue and null" >&2
        return 1
        ;;
    esac
    make_fs "$4" "$6" "$block" "$journal_device"
    mkdir -p "$2"
    log=
    [ -z "$journal_device" ] || [ "$4" != xfs ] || log=",logdev=$journal_device"
    mount -t "$4" -o "$5$log" "$block" "$2"
    DEVICE=$(cat "/sys/block/${block#/dev/}/dev")
    LIMITED=$(cat /sys/block/zram0/dev 2>/dev/null || true)
}

# make_fs FS JOURNAL DEVICE JOURNAL_DEVICE: with a journal of so many MiB, or what its program gives it; on the second device, if there is one.
make_fs() {
    journal=
    case $1 in
    xfs)
        [ "$2" -eq 0 ] || journal="-l size=$2m"
        [ -z "$4" ] || journal="-l logdev=$4,size=$2m"
        /mkfs.xfs -q -f $journal "$3"
        ;;
    *)
        [ "$2" -eq 0 ] || journal="-J size=$2"
        if [ -n "$4" ]; then
            /mke2fs -q -b 4096 -O journal_dev "$4"
            journal="-b 4096 -J device=$4"
        fi
        /mke2fs -q -t "$1" $journal -E lazy_itable_init=0,lazy_journal_init=0 "$3"
        ;;
    esac
}

# make_null NAME ATTRIBUTES SCHEDULER: /dev/NAME, "size=2048,mbps=100,...". First it is written whole, at no cost: it has its memory before
# anything is measured, and the dirty limits stay what they are.
make_null() {
    null=/sys/kernel/config/nullb/$1
    mkdir "$null"
    set_null size=${2#*size=} memory_backed=1 blocksize=4096
    echo 1 >"$null/power"
    dd if=/dev/zero of="/dev/$1" bs=1M oflag=direct 2>/dev/null || true # ends with: no space left
    echo 0 >"$null/power"
    for each in $(echo "$2" | tr , ' '); do set_null "$each"; done
    echo 1 >"$null/power"
    [ -z "$3" ] || echo "$3" >"/sys/block/$1/queue/scheduler"
}

# set_null NAME=VALUE ...: a value ends at a comma.
set_null() {
    for word; do
        value=${word#*=}
        echo "${value%%,*}" >"$null/${word%%=*}"
    done
}

# limit_all WRITE_BPS READ_BPS: for everybody, buffered writes too, in the root of cgroup v1.
limit_all() {
    mkdir -p /cgroup1
    mount -t cgroup -o blkio none /cgroup1
    echo "$LIMITED $1" >/cgroup1/blkio.throttle.write_bps_device
    echo "$LIMITED $2" >/cgroup1/blkio.throttle.read_bps_device
}

# limit_cgroup FILE BYTES WRITE_BPS READ_BPS: for a cgroup of v2 with so much memory, /cgroup2/case. With both controllers there, the
# kernel gives it dirty limits of its own.
limit_cgroup() {
    mkdir -p /cgroup2
    mount -t cgroup2 none /cgroup2
    echo "+memory +io" >/cgroup2/cgroup.subtree_control
    mkdir /cgroup2/case
    echo "$2" >"/cgroup2/case/$1"
    echo "$LIMITED wbps=$3 rbps=$4" >/cgroup2/case/io.max
}
