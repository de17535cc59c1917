#!/usr/bin/env bash
# Builds the images of the end-to-end suite into bin/e2e-images, for this machine's architecture: Interlock in two
# versions, managed-serviceaccount, the example that depends on it, and what a node without a registry needs to run pods.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$PWD/bin/e2e-images
rm -rf "$out"

# image VERSION FOLDER-OF-THE-MODULE NAME=PACKAGE...
image() {
  local version=$1 module=$2
  shift 2
  go run -C hack/images . -C "$PWD/$module" -out "$out/$version" -repository-prefix interlock.test/ -version "$version" \
    -platforms "linux/$(go env GOARCH)" -ldflags "-s -w -X open-cluster-management.io/interlock/pkg/version.Version=$version" "$@"
}
image 1 . pause=./test/e2e/pause
for version in e2e e2e-next; do
  image "$version" . addon-manager=./cmd/addon-manager addon-agent=./cmd/addon-agent
done
image e2e examples/cluster-report cluster-report=.
image e2e test/e2e/addons msa=open-cluster-management.io/managed-serviceaccount/cmd
