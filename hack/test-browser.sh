#!/usr/bin/env bash
# Tests the pages of kubectl addon in Chromium. Without it, all else is tested: git, Go and make suffice.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for program in chromium chromium-browser google-chrome; do
  if command -v "$program" >/dev/null; then
    exec go test -C test/browser -timeout 10m ./...
  fi
done
echo "test: without the pages in a browser, as Chromium is not installed" >&2
