#!/usr/bin/env bash
# ocm-from-source.sh SOURCE FOLDER: builds OCM for the tests from a checkout of its repository, of any version, and writes
# what OCM_ASSETS needs to FOLDER. It changes nothing in SOURCE. OCM_VERSION replaces the version that git describes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source=$(cd "${1:?usage: ocm-from-source.sh SOURCE FOLDER}" && pwd)
mkdir -p "${2:?usage: ocm-from-source.sh SOURCE FOLDER}"
folder=$(cd "$2" && pwd)

version=${OCM_VERSION:-$(git -C "$source" describe --tags --match 'v*' --abbrev=0)}
# The tests' main lets several hubs run at a time. The compiler sees it as if it were in OCM's repository.
overlay=$folder/overlay.json
{
  printf '{"Replace": {'
  separator=
  for file in "$root"/test/ocm/ocm/*.go; do
    printf '%s"%s/cmd/tested/%s": "%s"' "$separator" "$source" "$(basename "$file")" "$file"
    separator=', '
  done
  printf '}}\n'
} >"$overlay"
echo "ocm: compiling $version from $source"
(cd "$source" && CGO_ENABLED=0 GOFLAGS='' go build -mod=vendor -buildvcs=false -trimpath -overlay "$overlay" \
  -ldflags "-s -w -X open-cluster-management.io/ocm/pkg/version.versionFromGit=$version" -o "$folder/ocm" ./cmd/tested)
for name in registration addon placement work registration-operator; do ln -sf ocm "$folder/$name"; done
rm -rf "$folder/manifests" "$folder/chart"
cp -r "$source/manifests" "$folder/manifests"
cp -r "$source/deploy/cluster-manager/chart/cluster-manager" "$folder/chart"
echo "ocm: $version in $folder"
