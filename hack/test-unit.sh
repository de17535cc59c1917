#!/usr/bin/env bash
# Runs the unit tests and fuzz seeds, all that needs no API server: with the race detector where there is a
# C compiler that works, as it needs cgo.
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
go list ./... | grep -v -E '/test/(integration|testenv)' | xargs go test ${race[@]+"${race[@]}"}
