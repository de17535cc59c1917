#!/usr/bin/env bash
# Runs the suite of test/e2e on a hub and a managed cluster of one real node each, on this machine, without a container
# engine: clusteradm installs OCM, and Helm installs Interlock. Needs root, and the Debian packages that test/e2e/realnode lists.
# FOCUS=text runs only the specs with that text in their names, without the specs before them.
# KEEP_IMAGES=1 uses the images of the previous run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/bin
OCM_VERSION=$(go list -C test/ocm -m -f '{{.Version}}' open-cluster-management.io/ocm)
OCM_NEXT_VERSION=${OCM_VERSION%.*}.$((${OCM_VERSION##*.} + 1))
export OCM_VERSION OCM_NEXT_VERSION CLUSTERADM=$bin/clusteradm

go build -o "$bin/realnode" ./test/e2e/realnode
"$bin/realnode" -bin "$bin" -check
[ -n "${KEEP_IMAGES:-}" ] || hack/e2e-images.sh
echo "e2e: building the suite"
go test -c -tags e2e -o "$bin/e2e.test" ./test/e2e

archives=$(find "$bin/e2e-images" -name '*.tar' | paste -sd,)
export E2E_LOGS=$bin/e2e-logs
# realnode sets HUB_KUBECONFIG, the suite VERSION, and WEBHOOK_ADDRESS once it knows it: the nodes have no DNS.
release="interlock --kubeconfig \"\$HUB_KUBECONFIG\" --namespace interlock-system --wait"
export INTERLOCK_DEPLOY_COMMAND="'$bin/helm' upgrade --install $release '$PWD/deploy/charts/interlock' --create-namespace --timeout 10m \
  --set graftCRDs=true,agent.install=true,images.prefix=interlock.test/,images.tag=\$VERSION \
  \${WEBHOOK_ADDRESS:+--set addonManager.extraArgs[0]=--webhook-address=\$WEBHOOK_ADDRESS}"
export INTERLOCK_UNINSTALL_COMMAND="'$bin/helm' uninstall $release --timeout 10m"
export OCM_OPERATOR=quay.io/open-cluster-management/registration-operator:$OCM_NEXT_VERSION

status=0
"$bin/realnode" -bin "$bin" -state "$bin/e2e" -images "$archives" -- bash -euo pipefail -c "
  hack/e2e-ocm.sh
  cd test/e2e
  exec '$bin/e2e.test' -test.v -test.timeout 60m -ginkgo.v ${FOCUS:+-ginkgo.focus='$FOCUS'}" || status=$?
[ "$status" = 0 ] || echo "e2e: failed; the logs of the nodes are in $bin/e2e, those of the pods in $E2E_LOGS" >&2
exit "$status"
