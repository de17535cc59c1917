#!/usr/bin/env bash
# Runs the unit tests and fuzz seeds of the modules below, which need no API server. Packages that start or
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

# `./...` does not reach into a module within another one, so each is named.
for module in . pkg/apis pkg/author test/resolution test/benchmark; do
  sequential=() concurrent=()
  while read -r package dir; do
    if [[ ! $package =~ $many_cases ]] && grep -qsE "$starts_goroutines" "$dir"/*.go; then
      concurrent+=("$package")
    else
      sequential+=("$package")
    fi
  done < <(go list -C "$module" -f '{{.ImportPath}} {{.Dir}}' ./... | grep -v -E '/test/(integration|testenv|benchmark/integration)')
  [ ${#sequential[@]} = 0 ] || go test -C "$module" "${sequential[@]}"
  [ ${#concurrent[@]} = 0 ] || CGO_ENABLED=${#race[@]} go test -C "$module" ${race[@]+"${race[@]}"} "${concurrent[@]}"
done
