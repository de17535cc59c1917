#!/usr/bin/env bash
# Runs the suite of test/e2e on two kind clusters: a hub and a managed cluster that clusteradm made. The suite installs
# Interlock from its Helm chart. Needs docker, kind, helm and clusteradm. KEEP=1 leaves the clusters running;
# FOCUS=text runs only the specs with that text in their names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hub=interlock-hub
managed=interlock-cluster1
work=$PWD/bin/e2e-kind

for tool in docker kind helm clusteradm; do
  command -v "$tool" >/dev/null || { echo "error: $tool is not installed, or not in PATH" >&2; exit 1; }
done

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
# The clusters reach each other in docker's network only, not at the address in the kubeconfig.
OCM_VERSION=default JOIN_FLAGS=--force-internal-endpoint-lookup hack/e2e-ocm.sh

echo "e2e-kind: images"
hack/e2e-images.sh
for archive in bin/e2e-images/e2e*/*.tar; do
  for cluster in "$hub" "$managed"; do
    kind load image-archive "$archive" --name "$cluster"
  done
done

echo "e2e-kind: the suite"
release="interlock --kubeconfig '$HUB_KUBECONFIG' --namespace interlock-system --wait"
export INTERLOCK_DEPLOY_COMMAND="helm upgrade --install $release '$PWD/deploy/charts/interlock' --create-namespace --timeout 5m \
  --set graftCRDs=true,agent.install=true,images.prefix=interlock.test/,images.tag=\$VERSION" # the suite sets VERSION
export INTERLOCK_UNINSTALL_COMMAND="helm uninstall $release --timeout 10m" HUB_HAS_DNS=true
E2E_LOGS=$work/logs go test -tags e2e -v -timeout 60m ./test/e2e -ginkgo.v ${FOCUS:+-ginkgo.focus="$FOCUS"}
