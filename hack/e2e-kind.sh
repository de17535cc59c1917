#!/usr/bin/env bash
# Runs the suite of test/e2e on two kind clusters: a hub and a managed cluster that clusteradm made, with Interlock
# from its Helm chart. Needs docker, kind, helm, clusteradm and kubectl. KEEP=1 leaves the clusters running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hub=interlock-hub
managed=interlock-cluster1
work=$PWD/bin/e2e-kind
version=e2e
prefix=localhost/interlock-

for tool in docker kind helm clusteradm kubectl; do
  command -v "$tool" >/dev/null || { echo "error: $tool is not installed, or not in PATH" >&2; exit 1; }
done
[ -d test/e2e ] || { echo "error: there is no suite in test/e2e" >&2; exit 1; }

clean_up() {
  [ -n "${KEEP:-}" ] && { echo "e2e-kind: the clusters $hub and $managed keep running: kind delete cluster --name NAME"; return; }
  kind delete cluster --name "$hub"
  kind delete cluster --name "$managed"
}
trap clean_up EXIT

rm -rf "$work"
mkdir -p "$work"
export HUB_KUBECONFIG=$work/hub.kubeconfig MANAGED_KUBECONFIG=$work/cluster1.kubeconfig
kind create cluster --name "$hub" --kubeconfig "$HUB_KUBECONFIG" --wait 3m
kind create cluster --name "$managed" --kubeconfig "$MANAGED_KUBECONFIG" --wait 3m

echo "e2e-kind: Open Cluster Management"
KUBECONFIG=$HUB_KUBECONFIG clusteradm init --wait --output-join-command-file "$work/join"
# What init wrote is a script that takes the cluster's name. The clusters reach each other in docker's network only,
# not at the address in the kubeconfig.
printf ' --force-internal-endpoint-lookup\n' >>"$work/join"
KUBECONFIG=$MANAGED_KUBECONFIG bash "$work/join" cluster1
KUBECONFIG=$HUB_KUBECONFIG clusteradm accept --clusters cluster1 --wait

echo "e2e-kind: Interlock"
make images IMAGE_PREFIX="$prefix" VERSION="$version"
for name in addon-manager addon-agent; do
  for cluster in "$hub" "$managed"; do
    kind load image-archive "bin/images/$name.tar" --name "$cluster"
  done
done
helm upgrade --install interlock deploy/charts/interlock --kubeconfig "$HUB_KUBECONFIG" \
  --namespace interlock-system --create-namespace --wait --timeout 5m \
  --set "images.prefix=$prefix" --set "images.tag=$version"

echo "e2e-kind: the suite"
go test -v -timeout 40m ./test/e2e/...
helm uninstall interlock --kubeconfig "$HUB_KUBECONFIG" --namespace interlock-system --wait --timeout 10m
