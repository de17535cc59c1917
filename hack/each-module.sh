#!/usr/bin/env bash
# Runs a command in the folder of every Go module of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0
for file in go.mod test/*/go.mod examples/*/go.mod hack/*/go.mod hack/tools/*/go.mod; do
  module=$(dirname "$file")
  (cd "$module" && "$@") || { echo "failed in $module: $*" >&2 && failed=1; }
done
exit "$failed"
