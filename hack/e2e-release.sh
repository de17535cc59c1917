#!/usr/bin/env bash
# Makes a release of the commit, pushes its files to a registry, and installs it from there on the two real nodes of
# `make e2e`, as users do: with Helm from the chart, then with kubectl from install.yaml. Each is taken back as the docs
# say. Needs what `make e2e` needs. Each node has a registry of its own, on loopback: the names of images are the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/bin
work=$bin/e2e-release
registry=localhost:5000
release=v0.0.1-e2e
export OCM_VERSION CLUSTERADM=$bin/clusteradm PATH=$bin:$PATH
OCM_VERSION=$(go list -C test/ocm -m -f '{{.Version}}' open-cluster-management.io/ocm)

step() { echo "e2e-release: $* ($SECONDS s)"; }

# serve COMMAND: a registry with the release where the command runs it, until this script ends. Containerd and Helm take
# one on loopback without TLS.
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
    \${WEBHOOK_ADDRESS:+--set addonManager.args[0]=--webhook-address=\$WEBHOOK_ADDRESS}" \
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
