#!/usr/bin/env bash
# Checks that generated files equal the output of `make generate`. Works on a
# copy of the tree, uncommitted files included, and changes nothing here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

echo "verify: generated files"
# A file that was deleted but not yet committed is listed too.
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
  tar --null --files-from=- -cf - | tar -xf - -C "$copy"
"$copy/hack/generate.sh" >/dev/null

stale=0
for path in manifests pkg deploy/hub/{managedclusterfacts,addondependencyreports,addonfleetreports,addondependencypolicies,addoninstallations}-crd.yaml deploy/alerts/runbook.yaml deploy/charts/interlock/files schemas docs/crds.md docs/cli.md; do
  git --no-pager diff --no-index --exit-code -- "$path" "$copy/$path" || stale=1
done
if [ "$stale" = 1 ]; then
  echo "verify: generated files are not current (diff above): run 'make generate' and commit" >&2
  exit 1
fi
