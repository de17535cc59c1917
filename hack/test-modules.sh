#!/usr/bin/env bash
# Runs the tests of the modules that make images and releases, and check deploy/ with its alerts and health checks, and
# docs/cli.md, and JSON schemas. They need no API server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for module in hack/images hack/deployment hack/alerts hack/gitops hack/release hack/clireference hack/schemas; do
  # Not from the cache: Go does not see changes of files outside of a module, such as deploy/.
  go test -C "$module" -count=1 ./...
done
