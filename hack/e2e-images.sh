#!/usr/bin/env bash
# Builds the images of the end-to-end suite into bin/e2e-images, for this machine's architecture: Interlock in two
# versions, managed-serviceaccount, the example that depends on it, and the pause image of a node without a registry.
# With OCM_VERSION also OCM's images, and with OCM_NEXT_VERSION its operator once more, with that version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$PWD/bin/e2e-images
rm -rf "$out"

# image VERSION FOLDER-OF-THE-MODULE VARIABLE-OF-THE-VERSION [flags] NAME=PACKAGE...
image() {
  local version=$1 module=$2 variable=$3
  shift 3
  go run -C hack/images . -C "$PWD/$module" -out "$out/$version" -repository-prefix interlock.test/ -version "$version" \
    -platforms "linux/$(go env GOARCH)" -ldflags "-s -w -X $variable=$version" "$@"
}

# ocm VERSION ALIAS...: images as OCM's own charts expect them, with no entrypoint: the pods name the program. All of
# OCM's programs are one, so the images are one with several names.
ocm() {
  local version=$1 programs=(registration addon placement work registration-operator)
  shift
  image "$version" test/ocm open-cluster-management.io/ocm/pkg/version.versionFromGit \
    -repository-prefix quay.io/open-cluster-management/ -entrypoint=false \
    "${programs[@]/#/-link=}" "${@/#/-alias=}" ocm=./ocm
}

interlock=open-cluster-management.io/interlock/pkg/version.Version
image 1 . "$interlock" pause=./test/e2e/pause
for version in e2e e2e-next; do
  image "$version" . "$interlock" addon-manager=./cmd/addon-manager addon-agent=./cmd/addon-agent
done
image e2e examples/cluster-report "$interlock" cluster-report=.
image e2e test/e2e/addons "$interlock" msa=open-cluster-management.io/managed-serviceaccount/cmd

[ -z "${OCM_VERSION:-}" ] || ocm "$OCM_VERSION" registration addon-manager placement work registration-operator
[ -z "${OCM_NEXT_VERSION:-}" ] || ocm "$OCM_NEXT_VERSION" registration-operator
