#!/usr/bin/env bash
# Installs OCM with clusteradm, as users do: makes the cluster of HUB_KUBECONFIG a hub, and has that of MANAGED_KUBECONFIG
# join it as cluster1. OCM_VERSION names the version, CLUSTERADM the program, JOIN_FLAGS further flags of `clusteradm join`.
set -euo pipefail

clusteradm=${CLUSTERADM:-clusteradm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

KUBECONFIG=$HUB_KUBECONFIG "$clusteradm" init --bundle-version "$OCM_VERSION" --wait --timeout 600 --output-join-command-file "$work/join"
# What init wrote is a script that takes the cluster's name.
printf ' --bundle-version %s --timeout 600 %s\n' "$OCM_VERSION" "${JOIN_FLAGS:-}" >>"$work/join"
KUBECONFIG=$MANAGED_KUBECONFIG bash "$work/join" cluster1
KUBECONFIG=$HUB_KUBECONFIG "$clusteradm" accept --clusters cluster1 --wait --timeout 600
