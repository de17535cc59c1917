#!/usr/bin/env bash
# Makes a release of the commit, pushes its files to a registry, and installs it from there on the two real nodes of
# `make e2e`, as users do: with Helm from the chart, then with kubectl from install.yaml. Each is removed as the docs
# describe. It needs the prerequisites of `make e2e`. Each node has a registry of its own, on loopback: the names of images are the same.
# With PAGE=1, it then runs the commands of docs/install.md and docs/coexistence.md from the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/bin
work=$bin/e2e-release
registry=localhost:5000
release=v0.0.1-e2e
export OCM_VERSION CLUSTERADM=$bin/clusteradm PATH=$bin:$PATH
OCM_VERSION=$(go list -C test/ocm -m -f '{{.Version}}' open-cluster-management.io/ocm)

step() { echo "e2e-release: $* ($SECONDS s)"; }

# serve COMMAND: runs a registry with the release, on the machine where the command runs it, until this script ends.
# Containerd and Helm accept a registry on loopback without TLS.
serve() {
  "$@" crane registry serve --address "$registry" >>"$work/registry.log" 2>&1 &
  trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
  local name
  for _ in $(seq 50); do
    ! "$@" crane catalog --insecure "$registry" >/dev/null 2>&1 || break
    sleep 0.1
  done
  for name in addon-manager addon-agent; do
    "$@" crane push --insecure "$work/$name" "$registry/interlock/interlock-$name:${release#v}"
  done
  "$@" helm push "$work/files/interlock-${release#v}.tgz" "oci://$registry/interlock/charts" --plain-http
}

install_and_remove() {
  serve env # the hub's network
  serve nsenter --net="$MANAGED_NETWORK" --
  step "OCM $OCM_VERSION"
  hack/e2e-ocm.sh

  step "Helm, from oci://$registry/interlock/charts"
  local helm="interlock --kubeconfig '$HUB_KUBECONFIG' --namespace interlock-system --wait"
  (cd test/e2e && INTERLOCK_DEPLOY_COMMAND="helm upgrade --install $helm oci://$registry/interlock/charts/interlock --version ${release#v} \
    --plain-http --create-namespace --timeout 10m --set graftCRDs=true,agent.install=true \
    \${WEBHOOK_ADDRESS:+--set addonManager.extraArgs[0]=--webhook-address=\$WEBHOOK_ADDRESS}" \
    INTERLOCK_UNINSTALL_COMMAND="helm uninstall $helm --timeout 10m" \
    "$bin/e2e.test" -test.v -test.timeout 30m -ginkgo.v -ginkgo.focus 'two ready replicas|has OCM install the agent|leaves nothing behind')

  step "kubectl, from install.yaml"
  export KUBECONFIG=$HUB_KUBECONFIG
  (cd "$work/files" && kubectl apply -f install.yaml)
  kubectl -n interlock-system rollout status deployment --timeout 5m
  kubectl -n interlock-system get pods -o custom-columns='IMAGE:.spec.containers[*].image,READY:.status.containerStatuses[*].ready'
  kubectl apply -f test/e2e/manifests/release.yaml
  kubectl -n cluster1 wait managedclusteraddon/try-dependent --for=condition=Degraded --timeout 2m
  kubectl addon why try-dependent -n cluster1
  kubectl delete -f test/e2e/manifests/release.yaml
  (cd "$work/files" && kubectl apply -f uninstall.yaml &&
    kubectl -n interlock-system wait --for=condition=Complete --timeout=10m job/interlock-uninstall &&
    kubectl delete -f uninstall.yaml -f install.yaml --ignore-not-found)
  step "installed and removed, both ways"
  [ -z "${PAGE:-}" ] || run_page
}

# run_page runs the commands of the two pages, with the registry of this script.
run_page() {
  local page=$work/install.md tag name values="-n interlock-system --reuse-values"
  sed "s#registry.example.com/#$registry/interlock/#g" docs/install.md >"$page"
  commands() { go run ./hack/pagecommands -from "$1" -until "$2" "$page"; }
  managed() { nsenter --net="$MANAGED_NETWORK" -- "$@"; }
  for name in addon-manager addon-agent; do
    for tag in 0.1.0 0.2.0; do
      crane push --insecure "$work/$name" "$registry/interlock/interlock-$name:$tag"
      managed crane push --insecure "$work/$name" "$registry/interlock/interlock-$name:$tag"
    done
  done
  # Its context cluster1 is the managed cluster. Both clusters have the CRDs of the Prometheus Operator.
  sed 's/\badmin\b/cluster1-admin/g' "$MANAGED_KUBECONFIG" >"$work/cluster1.kubeconfig"
  kubectl config --kubeconfig "$work/cluster1.kubeconfig" rename-context \
    "$(kubectl config --kubeconfig "$work/cluster1.kubeconfig" current-context)" cluster1
  export KUBECONFIG=$HUB_KUBECONFIG:$work/cluster1.kubeconfig PLATFORMS
  PLATFORMS=linux/$(go env GOARCH) # of the images that the page builds
  kubectl apply -f test/e2e/manifests/monitoring.yaml
  kubectl --context cluster1 apply -f test/e2e/manifests/monitoring.yaml

  step "docs/install.md"
  INSECURE=1 commands "From a hub to the first condition" "With Helm"
  kubectl delete -f docs/examples/gateway.yaml
  kubectl addon hub uninstall --yes
  commands "With Helm" "With one command"
  commands "What is installed" "Without Helm"
  # The nodes have no DNS.
  helm upgrade interlock deploy/charts/interlock $values \
    --set "addonManager.extraArgs[0]=--webhook-address=$(kubectl -n interlock-system get service interlock-webhook -o jsonpath='{.spec.clusterIP}'):443"
  commands "addon-agent on managed clusters" "spec.dependencies on a stock hub"
  kubectl -n cluster1 wait managedclusteraddon/interlock-agent --for=condition=Available --timeout 5m
  commands "spec.dependencies on a stock hub" "Reports on dependencies"
  kubectl -n interlock-system rollout status deployment --timeout 5m
  kubectl wait crd/clustermanagementaddons.addon.open-cluster-management.io --timeout 2m \
    --for=jsonpath='{.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.dependencies.type}'=array
  commands "Reports on dependencies" "Metrics"
  commands "Metrics" "Upgrading"
  commands "Upgrading" "Uninstall"
  kubectl -n interlock-system rollout status deployment --timeout 5m
  helm uninstall interlock -n interlock-system --timeout 10m

  step "docs/install.md, without Helm"
  commands "Without Helm" "If the hub already has Interlock's CRDs"
  make undeploy
  kubectl create namespace interlock-system
  kubectl apply -f deploy/hub/managedclusterfacts-crd.yaml
  commands "If the hub already has Interlock's CRDs" "addon-agent on managed clusters"
  helm install interlock deploy/charts/interlock -n interlock-system --wait --set "images.prefix=$registry/interlock/interlock-"
  helm uninstall interlock -n interlock-system --timeout 10m

  step "docs/coexistence.md"
  kubectl create namespace argocd
  kubectl -n argocd create configmap argocd-cm
  go run ./hack/pagecommands docs/coexistence.md
}

if [ "${1:-}" = on-nodes ]; then
  install_and_remove
  exit
fi

go build -o "$bin/realnode" ./test/e2e/realnode
"$bin/realnode" -bin "$bin" -check
rm -rf "$work" && mkdir -p "$work"/addon-{manager,agent}
step "release $release for $registry"
go run -C hack/release . -C "$PWD" -out "$work/files" -version "$release" -image-prefix "$registry/interlock/interlock-" \
  -platforms "linux/$(go env GOARCH)"
for name in addon-manager addon-agent; do tar -C "$work/$name" -xf "$work/files/$name.tar"; done

[ -n "${KEEP_IMAGES:-}" ] || hack/e2e-images.sh
go test -c -tags e2e -o "$bin/e2e.test" ./test/e2e
archives=$(find "$bin/e2e-images" -name '*.tar' | paste -sd,)
export E2E_LOGS=$bin/e2e-logs
"$bin/realnode" -bin "$bin" -state "$bin/e2e" -images "$archives" -- "$PWD/hack/e2e-release.sh" on-nodes
