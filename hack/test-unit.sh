#!/usr/bin/env bash
# Runs the unit tests and fuzz seeds of Interlock and of the benchmark, all that needs no API server. Where a C
# compiler works, they run with the race detector, which needs cgo. Tests that try out millions of cases of pure
# functions, one after the other, run without it: it takes them five times as long, and there is nothing for it to find.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

race=()
read -r -a compiler <<<"$(CGO_ENABLED=1 go env CC)"
if printf '#include <stdlib.h>\nint main(void) { return 0; }\n' |
  "${compiler[@]}" -x c - -o /dev/null 2>/dev/null; then
  export CGO_ENABLED=1
  race=(-race)
else
  echo "test: without the race detector, as there is no working C compiler" >&2
fi
without_api_server() { go list -C "$1" ./... | grep -v -E '/test/(integration|testenv|benchmark/integration)'; }
many_cases='/(test/stability|test/resolution|pkg/compat/conversion|pkg/dependency/condition)$'

without_api_server . | grep -E "$many_cases" | xargs go test
without_api_server . | grep -v -E "$many_cases" | xargs go test ${race[@]+"${race[@]}"}
without_api_server test/benchmark | xargs go test -C test/benchmark ${race[@]+"${race[@]}"}
