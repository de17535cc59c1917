#!/usr/bin/env bash
# Copies into the Helm chart what it takes as it is from the kustomize bases: rights, services and the like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

files=deploy/charts/interlock/files
rm -rf "$files"
mkdir -p "$files/hub" "$files/uninstall" "$files/servicemonitor"
for file in deploy/hub/*.yaml; do
  case $(basename "$file") in
  # These have values, and templates of their own.
  deployment.yaml | webhook-deployment.yaml | networkpolicy.yaml) ;;
  # A chart does not make its own namespace.
  namespace.yaml | kustomization.yaml) ;;
  *) cp "$file" "$files/hub/" ;;
  esac
done
cp deploy/uninstall/{serviceaccount,clusterrole,clusterrolebinding,role,rolebinding}.yaml "$files/uninstall/"
cp deploy/servicemonitor/servicemonitor.yaml "$files/servicemonitor/"
