#!/usr/bin/env bash
# Installs OCM with clusteradm, as users do. The cluster of HUB_KUBECONFIG becomes a hub, and the cluster of
# MANAGED_KUBECONFIG joins it as cluster1. OCM_VERSION is the version, CLUSTERADM the program, and JOIN_FLAGS are more
# flags of `clusteradm join`.
set -euo pipefail

clusteradm=${CLUSTERADM:-clusteradm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

KUBECONFIG=$HUB_KUBECONFIG "$clusteradm" init --bundle-version "$OCM_VERSION" --wait --timeout 600 --output-join-command-file "$work/join"
# The output of init is a script. Its argument is the cluster's name.
printf ' --bundle-version %s --timeout 600 %s\n' "$OCM_VERSION" "${JOIN_FLAGS:-}" >>"$work/join"
KUBECONFIG=$MANAGED_KUBECONFIG bash "$work/join" cluster1
KUBECONFIG=$HUB_KUBECONFIG "$clusteradm" accept --clusters cluster1 --wait --timeout 600
