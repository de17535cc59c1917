#!/usr/bin/env bash
# Prints the newest release of Kubernetes, without the v, that the module proxy has.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../test/controlplane"

GOWORK=off go list -m -versions k8s.io/kubernetes | tr ' ' '\n' | grep -E '^v[0-9]+\.[0-9]+\.[0-9]+$' | tail -1 | tr -d v
