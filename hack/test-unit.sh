#!/usr/bin/env bash
# Runs the unit tests and fuzz seeds of Interlock and of the benchmark, all that needs no API server. Where a C
# compiler works, they run with the race detector, which needs cgo.
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
for module in . test/benchmark; do
  go list -C "$module" ./... | grep -v -E '/test/(integration|testenv|benchmark/integration)' |
    xargs go test -C "$module" ${race[@]+"${race[@]}"}
done
