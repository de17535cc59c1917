#!/usr/bin/env bash
# Runs the suite of test/e2e on a hub and a managed cluster of one real node each, on this machine, without a container
# engine. Needs root and, from Debian, what test/e2e/realnode names. FOCUS=text runs only the specs with that text in
# their names; what went before is then not there for them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/bin
go build -o "$bin/realnode" ./test/e2e/realnode
"$bin/realnode" -bin "$bin" -check
hack/e2e-images.sh
go test -c -tags e2e -o "$bin/e2e.test" ./test/e2e

archives=$(find "$bin/e2e-images" -name '*.tar' | paste -sd,)
export E2E_LOGS=$bin/e2e-logs INTERLOCK_UNINSTALL_HOOKS=$bin/e2e-hooks.yaml
go run -C hack/deployment ./hooks 'images: {prefix: interlock.test/, tag: e2e-next}' >"$INTERLOCK_UNINSTALL_HOOKS"
cd test/e2e
status=0
"$bin/realnode" -bin "$bin" -state "$bin/e2e" -images "$archives" -- \
  "$bin/e2e.test" -test.v -test.timeout 40m -ginkgo.v ${FOCUS:+-ginkgo.focus="$FOCUS"} || status=$?
[ "$status" = 0 ] || echo "e2e: failed; the logs of the nodes are in $bin/e2e, those of the pods in $E2E_LOGS" >&2
exit "$status"
