#!/usr/bin/env bash
# require-version.sh VERSION: has all modules require Interlock's own modules in this version. Their replace lines stay: Go
# uses them in this repository only. Importers get what is tagged.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1:?usage: require-version.sh v0.1.0}
interlock=open-cluster-management.io/interlock
for module in $(hack/modules.sh); do
  for path in "$interlock" "$interlock/pkg/apis" "$interlock/pkg/author"; do
    ! grep -q "^[[:space:]]$path v" "$module/go.mod" || go mod edit -C "$module" -require "$path@$version"
  done
done
hack/each-module.sh go mod tidy
