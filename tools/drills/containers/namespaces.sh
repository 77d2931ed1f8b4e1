#!/bin/sh
# namespaces.sh FOLDER PROGRAM…: runs a program with network, mounts and process ids of its own, and a way out through
# slirp4netns, which needs no rule on this machine. When the program ends, the kernel ends all that it started; then
# FOLDER and the control groups are removed. When our standard input closes, because whoever started us is gone, the
# program is killed.
set -u
folder=$1
shift
exec 3<&0
unshare --net --mount --pid --fork --kill-child --mount-proc -- tini-static -s -- "$@" &
program=$!
{ cat <&3 > /dev/null; kill -KILL "$program"; } 2> /dev/null &
watcher=$!
until [ "$(readlink "/proc/$program/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
slirp4netns --configure --mtu=1500 --disable-host-loopback --netns-type=path "/proc/$program/ns/net" tap0 \
  > "$folder/slirp4netns.log" 2>&1 &
network=$!
wait "$program"
code=$?
kill "$network" "$watcher"
# A control group can be removed once its last process is gone, and then nobody writes in the folder any more.
groups() { find /sys/fs/cgroup -depth -type d -path "*/cfe-$(basename "$folder")*" "$@" 2> /dev/null; }
for _ in $(seq 100); do
  [ -n "$(groups -print -quit)" ] || break
  groups -exec rmdir {} +
  sleep 0.1
done
rm -rf --one-file-system "$folder"
exit "$code"
