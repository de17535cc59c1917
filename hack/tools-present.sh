#!/usr/bin/env bash
# Lists missing programs, before a build of Interlock fails without them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "error: $*" >&2
  exit 1
}

wanted=$(awk '$1 == "go" { print $2; exit }' go.mod)
command -v git >/dev/null || fail "git is not installed, or not in PATH"
command -v go >/dev/null || fail "Go is not installed, or not in PATH; Interlock needs Go $wanted or newer: https://go.dev/dl"

# The version of the installed Go, not of a toolchain that it would fetch for this go.mod.
found=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
number='^go([0-9]+)\.([0-9]+)'
[[ $found =~ $number ]] || exit 0 # a development build of Go
have=$((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2]))
[[ go$wanted =~ $number ]]
need=$((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2]))

[ "$have" -ge "$need" ] && exit 0
# Since 1.21, go fetches the version that go.mod requires, unless GOTOOLCHAIN is local.
[ "$have" -ge 1021 ] && [ "$(cd / && go env GOTOOLCHAIN)" != local ] && exit 0
fail "Go is too old: found $found, Interlock needs $wanted or newer: https://go.dev/dl"
