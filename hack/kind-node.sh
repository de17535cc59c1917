#!/usr/bin/env bash
# Builds an image for kind's nodes on a machine that reaches no registry: from Debian's packages, and from the Go modules
# of Kubernetes, etcd, CoreDNS, containerd and its network plugins. The image is for clusters of one node; NetworkPolicies
# have no effect there. If nothing has changed, it builds nothing.
#
# KIND_NODE_IMAGE names the image; DEBIAN_MIRROR says where the packages come from.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/bin
assets=${KUBEBUILDER_ASSETS:-$bin}
work=$bin/kind-node-image
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
suite=bookworm # the last Debian whose systemd takes a host with cgroup v1
label=interlock.test/made-from
# The packages of kind's own Dockerfile without those for network storage and rootless Docker, and runc.
packages=systemd,systemd-sysv,dbus,conntrack,iptables,nftables,iproute2,ethtool,util-linux,mount,kmod,procps,runc,pigz,ca-certificates,curl,jq

fail() { echo "kind-node: $*" >&2; exit 1; }
step() { echo "kind-node: $* (${SECONDS} s)"; }

# debian makes rootfs.tar, and iptables.tar for kube-proxy, unless they exist.
debian() {
  local made
  made=$(declare -p suite packages mirror; cat hack/kind-node-debian.sh)
  [ "$(cat "$work/debian.made" 2>/dev/null)" = "$made" ] && return
  step "Debian $suite from $mirror, about a minute"
  rm -f "$work/debian.made"
  "${as_root[@]}" hack/kind-node-debian.sh "$work" "$(go env GOARCH)" "$packages" "$suite" "$mirror" >"$work/debian.log" 2>&1 ||
    fail "no Debian from $mirror; the end of $work/debian.log:"$'\n'"$(tail -n 5 "$work/debian.log")"
  echo "$made" >"$work/debian.made"
}

# archive makes images.tar, with the images that kubeadm runs on a node. All of kubeadm's names refer to one image: the
# pods name the program to start, except for CoreDNS, which is the entrypoint. containerd's configuration names pause.
archive() {
  step "images of the control plane"
  local system=$work/system name pause names=()
  rm -rf "$system"
  mkdir -p "$system/usr/local/bin"
  tar -C "$system" -xf "$work/iptables.tar"
  cp "$assets"/{etcd,kube-apiserver} "$bin"/{kube-controller-manager,kube-scheduler,kube-proxy,kind-node/coredns} "$system/usr/local/bin"
  for name in $("$bin/kubeadm" config images list --kubernetes-version "$version"); do
    [[ $name == *pause:* ]] || names+=("$name")
  done
  tar -C "$system" --numeric-owner --owner=0 --group=0 -c . | docker import -c 'ENV PATH=/usr/local/bin:/usr/sbin' \
    -c 'ENTRYPOINT ["/usr/local/bin/coredns"]' - "${names[0]}" >/dev/null
  for name in "${names[@]:1}"; do docker tag "${names[0]}" "$name"; done
  pause=$(sed -n 's/^ *sandbox_image = "\(.*\)"/\1/p' "$files/etc/containerd/config.toml")
  go build -ldflags '-s -w' -o "$work/pause" ./test/e2e/pause
  tar -C "$work" --owner=0 --group=0 -c pause | docker import -c 'ENTRYPOINT ["/pause"]' - "$pause" >/dev/null
  docker save -o "$work/images.tar" "$pause" "${names[@]}"
  docker rmi "$pause" "${names[@]}" >/dev/null
}

# base makes the image without the images of the control plane in it.
base() {
  step "Debian, containerd and kubelet"
  local context=$work/context
  rm -rf "$context"
  mkdir -p "$context"/{usr-local-bin,usr-bin,cni-bin}
  cp hack/kind-node/* "$context"
  cp -r "$files" "$context/kind"
  chmod -R u+w "$context/kind"
  cp "$work/rootfs.tar" "$context"
  cp "$bin"/kind-node/{containerd,containerd-shim-runc-v2,ctr} "$context/usr-local-bin"
  cp "$bin"/kind-node/{host-local,loopback,portmap,ptp} "$context/cni-bin"
  cp "$bin"/{kubeadm,kubelet,kubectl} "$context/usr-bin"
  echo "$version" >"$context/kind/kind/version"
  docker build --quiet --tag "$1" "$context" >"$work/build.log" 2>&1 ||
    fail "docker build failed; the end of $work/build.log:"$'\n'"$(tail -n 20 "$work/build.log")"
  rm -rf "$context"
}

# bake gives the base's containerd the images, as kind does for its own.
bake() {
  step "the images into containerd's store"
  local container
  container=$(docker run --detach --entrypoint sleep --security-opt seccomp=unconfined "$1" infinity)
  trap 'docker rm --force --volumes "$container" >/dev/null' RETURN
  docker exec --detach "$container" containerd
  docker exec "$container" timeout 60 sh -c 'until ctr version >/dev/null 2>&1; do sleep 0.1; done'
  docker exec --interactive "$container" ctr --namespace k8s.io images import --all-platforms --no-unpack --digests - \
    <"$work/images.tar" >"$work/import.log" 2>&1 || fail "containerd did not import the images: $(cat "$work/import.log")"
  docker exec "$container" pkill --signal TERM containerd
  docker commit --change "LABEL $label=$made_from" --change 'ENTRYPOINT [ "/usr/local/bin/entrypoint", "/sbin/init" ]' "$container" "$2" >/dev/null
}

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo) # debootstrap makes files with their owners
for program in debootstrap gpgv "${as_root[@]}"; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null ||
    fail "$program is missing; on Debian and Ubuntu: apt-get install debootstrap gpgv debian-archive-keyring sudo"
done
hack/docker-present.sh

version=$("$bin/kubeadm" version -o short)
image=${KIND_NODE_IMAGE:-interlock.test/kind-node:$version}
files=$(go list -C test/kind -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files
made_from=$(cat hack/kind-node*.sh hack/kind-node/* test/e2e/pause/* "$bin"/{controller-manager,node,kubeadm,kubectl,kind-node}.sum \
  <(echo "$mirror"; sha256sum "$assets"/{etcd,kube-apiserver}) | sha256sum | cut -c 1-16)
if [ "$(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$image" 2>/dev/null)" = "$made_from" ]; then
  echo "kind-node: $image is up to date"
  exit
fi
mkdir -p "$work"
debian
archive
base "${image%:*}-base:${image##*:}"
bake "${image%:*}-base:${image##*:}" "$image"
rm -rf "$work/images.tar" "$work/system"
step "$image is ready: KIND_NODE_IMAGE=$image make e2e-kind, or kind create cluster --image $image"
