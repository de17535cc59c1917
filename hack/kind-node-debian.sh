#!/usr/bin/env bash
# Makes rootfs.tar with Debian, and iptables.tar with iptables and its libraries. It needs root, because the files have
# owners.
#
#   kind-node-debian.sh FOLDER ARCHITECTURE PACKAGES SUITE MIRROR
set -euo pipefail

work=$1
rootfs=$work/rootfs
iptables=$work/iptables
rm -rf "$rootfs" "$iptables"
trap 'rm -rf "$rootfs" "$iptables"' EXIT
debootstrap --force-check-gpg --variant=minbase --arch "$2" --include="$3" "$4" "$rootfs" "$5"
tar -C "$rootfs" --numeric-owner --exclude './var/cache/apt/*' --exclude './var/lib/apt/lists/*' --exclude './usr/share/doc/*' \
  --exclude './usr/share/man/*' --exclude './usr/share/locale/*' --exclude './dev/*' -cf "$work/rootfs.tar" .

mkdir "$iptables"
cd "$rootfs"
cp -a --parents usr/sbin/{ip,ip6}tables* usr/sbin/xtables* etc/alternatives/{ip,ip6}tables* usr/lib/*-linux-gnu/xtables "$iptables"
# shellcheck disable=SC2016,SC2046 # expanded in the other root; one word for each library
cp -L --parents $(chroot . sh -c 'ldd /usr/sbin/xtables-*-multi /usr/lib/*-linux-gnu/xtables/*.so' | grep -o '/lib[^ :]*' | sort -u | sed 's,^/,,') \
  "$iptables"
tar -C "$iptables" --numeric-owner -cf "$work/iptables.tar" .
