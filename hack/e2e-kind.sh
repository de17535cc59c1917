#!/usr/bin/env bash
# Runs docs/kind.md and the commands of docs/runbook.md, then the suite of test/e2e on the clusters of that page and one more: a hub and two managed clusters
# that clusteradm made. It deletes all that it makes.
#
# KIND_NODE_IMAGE names the image of the nodes; without it, kind pulls its own (`make kind-node` builds one where no
# registry can be reached). KEEP=1 leaves the clusters running. FOCUS=text runs only the specs with that text in their
# names. KEEP_IMAGES=1 uses the images of the previous run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/bin
work=$bin/e2e-kind
export PATH=$bin:$PATH KUBECONFIG=$bin/kind-try/kubeconfig # that of the page
clusters=(interlock-hub interlock-cluster1 interlock-cluster2)

step() { echo "e2e-kind: $* ($SECONDS s)"; }

clean_up() {
  local status=$? name
  [ "$status" = 0 ] || echo "e2e-kind: failed; the logs of nodes, pods and specs are in $work/logs" >&2
  for name in $(kind get clusters 2>/dev/null | grep -xF "$(printf '%s\n' "${clusters[@]}")"); do
    [ "$status" = 0 ] || kind export logs --name "$name" "$work/logs/$name" >/dev/null 2>&1 || true
    if [ -n "${KEEP:-}" ]; then
      echo "e2e-kind: $name keeps running; delete it with: kind delete cluster --name $name"
    else
      kind delete cluster --name "$name"
    fi
  done
}

. hack/kind-functions.sh e2e-kind
export -f kind
export kind_archives=$work/images # the images that pods would otherwise get from registries

kind_export_versions
kind_prerequisites "${clusters[@]}"
trap clean_up EXIT
step "images"
[ -n "${KEEP_IMAGES:-}" ] || hack/e2e-images.sh
rm -rf "$work"
kind_link_archives

step "docs/kind.md"
go run ./hack/pagecommands -until "Remove Interlock" docs/kind.md

step "docs/runbook.md"
(
  # The runbook searches logs for lines that a healthy hub does not have.
  grep() { command grep "$@" || [ $? = 1 ]; }
  export -f grep
  go run ./hack/pagecommands -replace CLUSTER=cluster1 -replace ADDON=gateway -replace DEPENDENCY=gateway docs/runbook.md
)

step "docs/kind.md, the end"
go run ./hack/pagecommands -from "Remove Interlock" -until "Delete the clusters" docs/kind.md

step "a second managed cluster"
kind create cluster --name interlock-cluster2
bash bin/kind-try/join cluster2
clusteradm accept --context kind-interlock-hub --clusters cluster2 --wait

step "the suite"
for name in "${clusters[@]}"; do kind get kubeconfig --name "$name" >"$work/$name"; done
export HUB_KUBECONFIG=$work/interlock-hub MANAGED_KUBECONFIG=$work/interlock-cluster1 MANAGED2_KUBECONFIG=$work/interlock-cluster2
# These commands do for the suite things that no API can do: disconnect a cluster's network, and stop a cluster.
cut() {
  local chain rules=()
  for chain in "INPUT -i" "OUTPUT -o" "FORWARD -i" "FORWARD -o"; do rules+=("iptables -w $1 $chain eth0 -j DROP"); done
  printf 'docker exec interlock-cluster1-control-plane sh -c "%s"' "$(printf '%s && ' "${rules[@]}") true"
}
MANAGED_CUT_COMMAND=$(cut -I) MANAGED_RESTORE_COMMAND=$(cut -D)
export MANAGED_CUT_COMMAND MANAGED_RESTORE_COMMAND
export MANAGED2_STOP_COMMAND="docker stop interlock-cluster2-control-plane" MANAGED2_START_COMMAND="docker start interlock-cluster2-control-plane"
release="interlock --kubeconfig '$HUB_KUBECONFIG' --namespace interlock-system --wait"
export INTERLOCK_DEPLOY_COMMAND="helm upgrade --install $release '$PWD/deploy/charts/interlock' --create-namespace --timeout 10m \
  --set graftCRDs=true,agent.install=true,images.prefix=interlock.test/,images.tag=\$VERSION" # the suite sets VERSION
export INTERLOCK_UNINSTALL_COMMAND="helm uninstall $release --timeout 10m" HUB_HAS_DNS=true
export OCM_OPERATOR=quay.io/open-cluster-management/registration-operator:$OCM_NEXT_VERSION E2E_LOGS=$work/logs
go test -tags e2e -v -timeout 60m ./test/e2e -ginkgo.v ${FOCUS:+-ginkgo.focus="$FOCUS"}

step "memory of the nodes"
docker stats --no-stream --format '{{.Name}} {{.MemUsage}}' "${clusters[@]/%/-control-plane}"
[ -n "${KEEP:-}" ] || go run ./hack/pagecommands -from "Delete the clusters" docs/kind.md
step "passed"
