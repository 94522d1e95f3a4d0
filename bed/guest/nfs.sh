# A client of NFS in a network namespace, and its server behind a link of limited rate: in this kernel (dax), or in user-mode Linux as a
# process of this guest (2hosts), which has its own memory, page cache and disk. One processor and one clock serve all.
NFS_SERVER=10.0.0.1
NFS_CLIENT=10.0.0.2
RPC=/proc/net/rpc
NFS_EVENTS="nfs_initiate_write nfs_writeback_done nfs_initiate_commit nfs_commit_done nfs_initiate_read nfs_readpage_done"

# make_link BITS_PER_S DELAY_US MTU: a veth pair, each direction with its own rate (tc-netem(8)). The server's end is `sv`, the client's `cl`.
make_link() {
    mkdir -p /run/netns
    /ip netns add cl
    /ip link add sv mtu "$3" type veth peer name cl mtu "$3" netns cl
    /ip link set lo up
    /ip link set sv up
    in_client /ip link set lo up
    in_client /ip addr add $NFS_CLIENT/24 dev cl
    in_client /ip link set cl up
    /tc qdisc add dev sv root netem limit 20000 rate "${1}bit" delay "${2}us"
    in_client /tc qdisc add dev cl root netem limit 20000 rate "${1}bit" delay "${2}us"
}

in_client() { nsenter --net=/run/netns/cl -- "$@"; }

# serve FOLDER EXPORT THREADS: knfsd exports FOLDER, sync or async, to the client. The caches of exports that mountd would answer for are
# filled by hand (nfsd(7); flags: include/uapi/linux/nfsd/export.h). The grace period of NFS 4 ends at once.
serve() {
    mkdir -p /var/lib/nfs/v4recovery
    mount -t nfsd none /proc/fs/nfsd
    flags=$((0x2000 | 0x400 | 0x20)) # fsid, no_subtree_check, wdelay
    [ "$2" = sync ] || flags=$((flags | 0x10))
    never=2147483647
    printf 'nfsd %s %s bed\n' $NFS_CLIENT $never >$RPC/auth.unix.ip/channel
    printf 'bed %s %s %s 65534 65534 0\n' "$1" $never $flags >$RPC/nfsd.export/channel
    printf 'bed 1 \\x00000000 %s %s\n' $never "$1" >$RPC/nfsd.fh/channel
    echo '-3' >/proc/fs/nfsd/versions # it wants rpcbind and lockd
    echo 1048576 >/proc/fs/nfsd/max_block_size # else it follows from the server's memory
    echo 'tcp 2049' >/proc/fs/nfsd/portlist
    echo "$3" >/proc/fs/nfsd/threads
    echo Y >/proc/fs/nfsd/v4_end_grace
}

# serve_here: from ext4 with DAX on persistent memory: no page cache of the server, and nothing to commit.
serve_here() {
    /mke2fs -q -t ext4 -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/pmem0
    mount -t ext4 -o noatime,dax=always /dev/pmem0 /z
    /ip addr add $NFS_SERVER/24 dev sv
    serve /z "$BED_NFS_EXPORT" "$BED_NFS_THREADS"
}

# start_server: user-mode Linux on the file system of this guest. It gets all of its memory now, so that the client's does not shrink later.
start_server() {
    mkdir -p /dev/shm /u
    mount --bind / /u # without what is mounted below it: /proc/self would be that of this kernel
    mount -t tmpfs -o size="$((BED_NFS_SERVER_MEMORY + 128))M" none /dev/shm
    mkfifo /run/srv.in /run/srv.out
    run_server & # its file descriptors are its own, as it makes them non-blocking
    srv
    uml=$(pidof linux.uml)
    for each in /proc/"${uml##* }"/fd/*; do
        case $(readlink "$each") in
        /dev/shm/*) fallocate -l "${BED_NFS_SERVER_MEMORY}M" "$each" ;;
        esac
    done
}

# run_server: without a server there is no case, and the guest ends.
run_server() {
    /linux.uml \
        mem="${BED_NFS_SERVER_MEMORY}M" root=/dev/root rootfstype=hostfs rootflags=/u rw init=/server quiet \
        con=null con0=null,fd:2 ssl0=fd:0,fd:1 \
        vec0:transport=raw,ifname=sv,depth=128,gro=1,mac=02:00:00:00:00:01 \
        wbps="$BED_NFS_SERVER_WRITE_BPS" rbps="$BED_NFS_SERVER_READ_BPS" exp="$BED_NFS_EXPORT" \
        threads="$BED_NFS_THREADS" mtu="$BED_NFS_MTU" <>/run/srv.in 1<>/run/srv.out 2>/run/srv.log || true
    cat /run/srv.log
    echo "bed: the server ended"
    poweroff -nf # a sync would wait for the server
}

# mount_nfs: the client's mount, /n.
mount_nfs() {
    mkdir -p /n
    options=vers=$BED_NFS_VERS,proto=tcp,sec=sys,rsize=$BED_NFS_RSIZE,wsize=$BED_NFS_WSIZE$BED_NFS_OPTIONS
    in_client mount -t nfs4 -o "$options,addr=$NFS_SERVER,clientaddr=$NFS_CLIENT" $NFS_SERVER:/ /n
    DEVICE=$(sed -n 's|^[^ ]* [^ ]* \([^ ]*\) / /n .*|\1|p' /proc/self/mountinfo)
}

make_nfs() {
    mkdir -p /z
    make_link "$BED_NFS_LINK" "$BED_NFS_DELAY" "$BED_NFS_MTU"
    if [ "$BED_NFS" = dax ]; then serve_here; else start_server; fi
    mount_nfs
}

# describe_nfs: what python/pagecast/studies/live_nfs/README.md says of platform.txt.
describe_nfs() {
    sysctl -a 2>/dev/null | grep -E '^(net\.(core\.[rw]mem|ipv4\.tcp_([rw]mem|congestion))|sunrpc)' || true
    sed -n '/fstype nfs4/,/age:/p' /proc/self/mountstats
    echo "nfs bdi $DEVICE read_ahead_kb $(cat "/sys/class/bdi/$DEVICE/read_ahead_kb")"
    echo "configuration: export $BED_NFS_EXPORT, link $BED_NFS_LINK bit/s, delay ${BED_NFS_DELAY}us each way"
    /tc qdisc show dev sv
    /ip link show dev sv
    for each in nfs sunrpc nfsd; do
        grep -s . /sys/module/$each/parameters/* | sed 's/:/ /' || true
    done
    if [ "$BED_NFS" = dax ]; then
        echo "server: dev=pmem, ext4 dax=always"
        describe_server
    else
        echo "--- server (user-mode Linux)"
        srv describe
    fi
}

# describe_server: what knfsd says of itself.
describe_server() {
    cat /proc/net/rpc/nfsd.export/content
    cat /proc/fs/nfsd/versions
    echo "nfsd threads $(cat /proc/fs/nfsd/threads) max_block_size $(cat /proc/fs/nfsd/max_block_size)"
}
