#!/usr/bin/env bash
# Runs suites with programs that scramble every word of their messages, to show that no program reads a message. The suites
# restore the messages.
# Arguments are the names of suites.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
echo "test: building the programs with scrambled messages"
go build -tags scrambled -o "$programs/" ./cmd/...
suites=()
for suite in "$@"; do
  suites+=("./test/integration/$suite")
done
INTERLOCK_BIN=$programs go test -tags scrambled -v -p 2 -timeout 30m "${suites[@]}" -ginkgo.flake-attempts="${FLAKE_ATTEMPTS:-1}"
