# Commands of `pagecast advise`, run one by one. What came of each is a row of /tmp/accepted.csv: its number, its exit code, what was said of
# it, and what is seen of it afterwards.
cd / # a folder of a mount that is in use cannot be unmounted
mkdir -p /etc
ln -sf /proc/mounts /etc/mtab
dmesg -c >/dev/null
echo number,code,message,seen >/tmp/accepted.csv

# make_cgroup NAME: of v2, where systemd mounts it.
make_cgroup() {
    grep -q ' /sys/fs/cgroup ' /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
    echo "+memory +io" >/sys/fs/cgroup/cgroup.subtree_control
    mkdir -p "/sys/fs/cgroup/$1"
}

# start_program NAME: a process that does nothing, until the guest is off.
start_program() {
    printf '#!/bin/sh\nwhile :; do sleep 60; done\n' >"/bin/$1"
    chmod +x "/bin/$1"
    "$1" >/dev/null 2>&1 &
}

# make_mount FOLDER: a second mount of NFS, as the player watches the first one.
make_mount() {
    mkdir -p "$1"
    nsenter --net=/run/netns/cl -- mount -t nfs4 -o addr=10.0.0.1,clientaddr=10.0.0.2 10.0.0.1:/ "$1"
}

in_line() { tr '\n"' " '" | sed 's/ *$//'; }

# try NUMBER COMMAND LOOK
try() {
    code=0
    said=$(sh -c "$2" 2>&1) || code=$?
    message=$(printf '%s\n' "$said" "$(dmesg -c)" | in_line)
    printf '%s,%s,"%s","%s"\n' "$1" "$code" "$message" "$(sh -c "$3" 2>&1 | in_line)" >>/tmp/accepted.csv
}
