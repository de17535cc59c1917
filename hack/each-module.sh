#!/usr/bin/env bash
# Runs a command in the folder of every Go module of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0
for module in $(hack/modules.sh); do
  (cd "$module" && "$@") || { echo "failed in $module: $*" >&2 && failed=1; }
done
exit "$failed"
