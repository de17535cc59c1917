#!/usr/bin/env bash
# Checks that go.mod and go.sum of every module are tidy. Changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "verify: go.mod and go.sum"
hack/each-module.sh go mod tidy -diff || {
  echo "verify: go.mod or go.sum is not tidy: run 'make tidy' and commit" >&2
  exit 1
}
