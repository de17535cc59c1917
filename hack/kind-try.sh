#!/usr/bin/env bash
# Runs the commands of docs/kind.md on two kind clusters, without those that remove Interlock and the clusters, and prints how to go on.
#
# KIND_NODE_IMAGE names the image of the nodes; without it, kind pulls its own. DRY_RUN=1 prints the commands and runs nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=docs/kind.md
until="Remove Interlock"

if [ -n "${DRY_RUN:-}" ]; then
  exec go run ./hack/pagecommands -print -until "$until" "$page"
fi

export PATH=$PWD/bin:$PATH
. hack/kind-functions.sh kind-try
kind_prerequisites interlock-hub interlock-cluster1
export -f kind
if [ -n "${KIND_NODE_IMAGE:-}" ]; then # where no registry can be reached, the nodes need the images of OCM too
  export kind_archives=$PWD/bin/kind-try/images
  kind_export_versions
  hack/e2e-images.sh
  kind_link_archives
fi

go run ./hack/pagecommands -until "$until" "$page" || {
  echo "kind-try: failed; the clusters that exist stay: kind get clusters" >&2
  echo "kind-try: to begin anew: kind delete clusters interlock-hub interlock-cluster1" >&2
  exit 1
}

cat <<END

kind-try: the hub interlock-hub and the managed cluster interlock-cluster1 keep running. To use them in this checkout:

  export PATH=$PWD/bin:\$PATH KUBECONFIG=$PWD/bin/kind-try/kubeconfig
  kubectl addon why

When you have finished:

  kind delete clusters interlock-hub interlock-cluster1
END
