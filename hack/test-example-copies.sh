#!/usr/bin/env bash
# Copies each example out of the repository, renames its module as an author does, and builds and tests the copy. So an
# example depends on nothing beside it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

interlock=$PWD
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT

for file in examples/*/go.mod; do
  example=$(basename "$(dirname "$file")")
  cp -r "examples/$example" "$copies/$example"
  cd "$copies/$example"
  name=$(go list -m)
  go mod edit -module "example.com/$example" -replace "open-cluster-management.io/interlock=$interlock" \
    -replace "open-cluster-management.io/interlock/pkg/apis=$interlock/pkg/apis" \
    -replace "open-cluster-management.io/interlock/pkg/author=$interlock/pkg/author"
  grep -rl --include='*.go' "\"$name" . | xargs sed -i "s|\"$name|\"example.com/$example|"
  if grep -rn --include='*.go' "$name" .; then
    echo "$example: its former name is left" >&2
    exit 1
  fi
  go build -o /dev/null .
  go vet ./...
  go test ./...
  cd "$interlock"
  echo "test: a copy of $example builds and passes its tests"
done
