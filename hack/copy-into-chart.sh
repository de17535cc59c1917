#!/usr/bin/env bash
# Copies the CRDs that are Interlock's own into deploy/hub, and unchanged files of the kustomize bases into the Helm chart:
# rights, services and the like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# kustomize reads no file outside of its folder.
for name in managedclusterfacts addondependencyreports addonfleetreports addondependencypolicies addoninstallations; do
  cp "manifests/crds/0000_02_dependency.addon.open-cluster-management.io_$name.crd.yaml" "deploy/hub/$name-crd.yaml"
done
files=deploy/charts/interlock/files
rm -rf "$files"
mkdir -p "$files/hub" "$files/guard" "$files/graft" "$files/reports" "$files/lifecycle" "$files/agent-addon" "$files/uninstall" "$files/uninstall-remove" "$files"/{servicemonitor,alerts,dashboard,plugin-reader,console}
for file in deploy/hub/*.yaml; do
  case $(basename "$file") in
  # These have values, and templates of their own.
  deployment.yaml | webhook-deployment.yaml | networkpolicy.yaml) ;;
  # A chart does not make its own namespace.
  namespace.yaml | kustomization.yaml) ;;
  # Only with the values that need them.
  guard-*) cp "$file" "$files/guard/" ;;
  *) cp "$file" "$files/hub/" ;;
  esac
done
cp deploy/uninstall/{serviceaccount,clusterrole,clusterrolebinding,role,rolebinding}.yaml "$files/uninstall/"
cp deploy/uninstall-remove/{clusterrole,clusterrolebinding}.yaml "$files/uninstall-remove/"
cp deploy/graft/clusterrolebinding.yaml "$files/graft/"
cp deploy/reports/clusterrolebinding.yaml "$files/reports/"
cp deploy/lifecycle/{clusterrolebinding,webhook-configuration}.yaml "$files/lifecycle/"
cp deploy/agent-addon/{clusterrolebinding,addontemplate,clustermanagementaddon}.yaml "$files/agent-addon/"
cp deploy/plugin-reader/{clusterrole,role}.yaml "$files/plugin-reader/"
cp deploy/servicemonitor/servicemonitor.yaml "$files/servicemonitor/"
cp deploy/alerts/{prometheusrule,runbook}.yaml "$files/alerts/"
cp deploy/dashboard/interlock.json "$files/dashboard/"
cp deploy/console/{serviceaccount,clusterrole,clusterrolebinding,role,rolebinding,service}.yaml "$files/console/"
