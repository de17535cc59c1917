#!/usr/bin/env bash
# Writes every generated file: deepcopy methods, CRDs, the pages of alerts, the chart's files from the kustomize
# bases, JSON schemas, the page of kubectl addon ui, docs/crds.md and docs/cli.md.
# For the next OCM version: bump open-cluster-management.io/api in go.mod, then run this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

schemas=$(mktemp -d)
trap 'rm -rf "$schemas"' EXIT

# controller_gen runs in the module of the types.
controller_gen() {
  (cd pkg/apis && go tool -modfile=../../hack/tools/controller-gen/go.mod controller-gen "$@" paths=./...)
}

# go list does not download, and the CRDs are read from the module's folder.
go mod download open-cluster-management.io/api

echo "generate: deepcopy methods"
controller_gen object
echo "generate: CRDs"
controller_gen crd "output:crd:dir=$schemas"
mkdir -p manifests/crds
rm -f manifests/crds/*.yaml
go run ./hack/crds -schemas "$schemas" -out manifests/crds -fields pkg/dependency/declaration/schema/fields.json
echo "generate: pages of alerts"
go run ./hack/runbook
echo "generate: files of the chart"
hack/copy-into-chart.sh
echo "generate: schemas and docs/crds.md"
go run -C hack/schemas .
echo "generate: the page of kubectl addon ui"
hack/bundle.sh
echo "generate: docs/cli.md"
go run -C hack/clireference . ../../docs/cli.md
