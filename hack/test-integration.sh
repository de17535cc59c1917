#!/usr/bin/env bash
# Runs the integration suites, four at a time: each waits for real API servers and for OCM more than it computes.
# With FLAKE_ATTEMPTS=2, as in continuous integration, a spec that fails runs once more. The end of the output lists
# these specs: a flake is a bug.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

attempts=${FLAKE_ATTEMPTS:-1}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Flags of Ginkgo are errors to tests that do not use it. The suites that take minutes come first, so that none of them runs
# alone at the end.
suites=() long=() others=()
while read -r package imports; do
  case "${package##*/}: $imports " in
    webhook:* | coexistence:* | graft:* | order:* | protection:* | hub:* | installation:* | crash:* | facts:* | stack:*) long+=("$package") ;;
    *" github.com/onsi/ginkgo/v2 "*) suites+=("$package") ;;
    *) others+=("$package") ;;
  esac
done < <(go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./test/testenv/... ./test/integration/...)

# `make test` has built them, so that no suite has to.
export INTERLOCK_BIN=${INTERLOCK_BIN:-$PWD/bin}
# API servers of tests are small and live for minutes. With fewer garbage collections, the suites take about a seventh less
# processor time.
export GOGC=${GOGC:-300}
failed=0
go test -v -p 1 -timeout 10m "${others[@]}" || failed=1
go test -v -p 4 -timeout 30m "${long[@]}" "${suites[@]}" "-ginkgo.flake-attempts=$attempts" 2>&1 | tee "$log" || failed=1
if grep -q '^FLAKE ' "$log"; then
  echo "test: these specs passed only when they were run again:"
  grep -A8 '^FLAKE ' "$log"
fi
exit "$failed"
