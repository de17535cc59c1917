#!/usr/bin/env bash
# Runs the unit tests and fuzz seeds of Interlock and of the benchmark, which need no API server. Packages that start or
# synchronize goroutines run with the race detector if a C compiler works, because it needs cgo. Other packages have no
# races, and would take five times as long.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

race=()
read -r -a compiler <<<"$(CGO_ENABLED=1 go env CC)"
if printf '#include <stdlib.h>\nint main(void) { return 0; }\n' |
  CGO_ENABLED=1 "${compiler[@]}" -x c - -o /dev/null 2>/dev/null; then
  race=(-race)
else
  echo "test: without the race detector, as there is no working C compiler" >&2
fi

# Tests with millions of cases of pure functions run them in parallel, but need no race detector. The
# tests of pkg/dependency/plan/review measure costs, one review after the other; pkg/webhook/admission reviews concurrently.
many_cases='/(test/stability|test/resolution|pkg/compat/conversion|pkg/dependency/condition|pkg/dependency/plan/review)$'
starts_goroutines='^[[:space:]]*go (func\(|[a-zA-Z_.]+\()|"sync"|"sync/atomic"|"golang.org/x/sync/'

sequential=() concurrent=()
while read -r package dir; do
  if [[ ! $package =~ $many_cases ]] && grep -qsE "$starts_goroutines" "$dir"/*.go; then
    concurrent+=("$package")
  else
    sequential+=("$package")
  fi
done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./... | grep -v -E '/test/(integration|testenv)')

go test "${sequential[@]}"
CGO_ENABLED=${#race[@]} go test ${race[@]+"${race[@]}"} "${concurrent[@]}"
go list -C test/benchmark ./... | grep -v '/test/benchmark/integration' |
  CGO_ENABLED=${#race[@]} xargs go test -C test/benchmark ${race[@]+"${race[@]}"}
