#!/usr/bin/env bash
# Applies deploy/hub with the image $IMAGE to the current context of $KUBECTL, and waits until it runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kubectl=${KUBECTL:-kubectl}
overlay=$(mktemp -d deploy/.overlay-XXXXXX) # kustomize wants relative paths
trap 'rm -rf "$overlay"' EXIT
cat >"$overlay/kustomization.yaml" <<EOF
resources: [../hub]
images:
  - name: quay.io/open-cluster-management/interlock-addon-manager
    newName: ${IMAGE%:*}
    newTag: ${IMAGE##*:}
EOF
"$kubectl" apply -k "$overlay"
for name in interlock-webhook interlock-addon-manager; do
  "$kubectl" -n interlock-system rollout status --timeout=3m "deployment/$name"
done
