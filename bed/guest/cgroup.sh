# Cgroups of v2 for cases: sh /cgroup.sh NAME FILE=TEXT ... makes one and writes a line of each file for the disk at /data, or without a disk
# for io.weight. NAME / is the root, whose io.cost.model and io.cost.qos are the disk's. A fio job joins by exec_prerun.
set -eu
mkdir -p /cgroup2
grep -q ' /cgroup2 ' /proc/mounts || mount -t cgroup2 none /cgroup2
echo "+memory +io" >/cgroup2/cgroup.subtree_control
group=/cgroup2/$1
shift
mkdir -p "$group"
block=$(sed -n 's|^/dev/\([^ ]*\) /data .*|\1|p' /proc/mounts)
disk=$(cat "/sys/block/$block/dev")
for each; do
    case ${each%%=*} in
    io.weight) echo "${each#*=}" >"$group/io.weight" ;;
    *) echo "$disk ${each#*=}" >"$group/${each%%=*}" ;;
    esac
done
