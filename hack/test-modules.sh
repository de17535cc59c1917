#!/usr/bin/env bash
# Runs the tests of the modules that make images and check deploy/. They need no API server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for module in hack/images hack/deployment; do
  go test -C "$module" ./...
done
