#!/usr/bin/env bash
# deploy.sh apply: applies deploy/hub with the image $IMAGE to the current context of $KUBECTL, with $AGENT_IMAGE also
# deploy/agent-addon, and waits until it runs. deploy.sh delete: deletes both, as far as they exist.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kubectl=${KUBECTL:-kubectl}
overlay=$(mktemp -d deploy/.overlay-XXXXXX) # kustomize wants relative paths
trap 'rm -rf "$overlay"' EXIT
echo 'resources: [../hub]' >"$overlay/kustomization.yaml"

case ${1:-} in
apply)
  cat >>"$overlay/kustomization.yaml" <<EOT
images:
  - name: quay.io/open-cluster-management/interlock-addon-manager
    newName: "${IMAGE%:*}"
    newTag: "${IMAGE##*:}" # a commit may look like a number
EOT
  # The Deployment is the last object of the template.
  [ -z "${AGENT_IMAGE:-}" ] || cat >>"$overlay/kustomization.yaml" <<EOT
components: [../agent-addon]
patches:
  - target: {kind: AddOnTemplate, name: interlock-agent}
    patch: |
      - op: replace
        path: /spec/agentSpec/workload/manifests/7/spec/template/spec/containers/0/image
        value: "$AGENT_IMAGE"
EOT
  "$kubectl" apply -k "$overlay"
  for name in interlock-webhook interlock-addon-manager; do
    "$kubectl" -n interlock-system rollout status --timeout=3m "deployment/$name"
  done
  ;;
delete)
  echo 'components: [../agent-addon]' >>"$overlay/kustomization.yaml"
  "$kubectl" delete --ignore-not-found -k "$overlay"
  ;;
*)
  echo "usage: deploy.sh apply|delete" >&2
  exit 2
  ;;
esac
