# What the scripts that make kind clusters share. `. hack/kind-functions.sh NAME`: NAME begins the messages.
kind_script=$1

kind_fail() { echo "$kind_script: $*" >&2; exit 1; }

# kind_prerequisites CLUSTER...: checks the machine before the first step.
kind_prerequisites() {
  hack/docker-present.sh
  local name there instances
  there=$(kind get clusters 2>/dev/null)
  for name in "$@"; do
    ! grep -qx "$name" <<<"$there" || kind_fail "the kind cluster $name exists already; delete it with: kind delete cluster --name $name"
  done
  # A known limit of kind: each node needs some hundred inotify instances.
  instances=$(cat /proc/sys/fs/inotify/max_user_instances 2>/dev/null || echo 8192)
  [ "$instances" -ge 512 ] || kind_fail "the nodes need more inotify instances than $instances: sysctl -w fs.inotify.max_user_instances=1024"
  [ -z "${KIND_NODE_IMAGE:-}" ] || docker image inspect "$KIND_NODE_IMAGE" >/dev/null 2>&1 || docker pull --quiet "$KIND_NODE_IMAGE" ||
    kind_fail "no image $KIND_NODE_IMAGE, here or in a registry: make kind-node builds one"
}

# kind_export_versions: sets the versions of OCM whose images hack/e2e-images.sh builds.
kind_export_versions() {
  OCM_VERSION=$(go list -C test/ocm -m -f '{{.Version}}' open-cluster-management.io/ocm)
  OCM_NEXT_VERSION=${OCM_VERSION%.*}.$((${OCM_VERSION##*.} + 1))
  export OCM_VERSION OCM_NEXT_VERSION
}

# kind_link_archives: puts the images of hack/e2e-images.sh, which has a folder for each version, into $kind_archives.
kind_link_archives() {
  rm -rf "$kind_archives"
  mkdir -p "$kind_archives"
  local archive
  for archive in bin/e2e-images/*/*.tar; do
    ln "$archive" "$kind_archives/$(basename "$(dirname "$archive")")-$(basename "$archive")"
  done
}

# kind replaces the program: it gives new clusters the node image, and the images in the archives of $kind_archives, if there are any.
kind() {
  command kind "$@" ${KIND_NODE_IMAGE:+$([ "$1 $2" != "create cluster" ] || echo --image "$KIND_NODE_IMAGE")} || {
    [ "$1 $2" != "create cluster" ] || [ -n "${KIND_NODE_IMAGE:-}" ] ||
      echo "if no registry can be reached: make kind-node, then KIND_NODE_IMAGE=... as docs/kind.md says" >&2
    return 1
  }
  [ "$1 $2" = "create cluster" ] && [ -n "${kind_archives:-}" ] || return 0
  local archive
  for archive in "$kind_archives"/*.tar; do
    command kind load image-archive "$archive" --name "$4" >/dev/null || return 1
  done
}
