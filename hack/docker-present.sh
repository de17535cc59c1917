#!/usr/bin/env bash
# Explains how to make Docker work where it does not.
set -euo pipefail

command -v docker >/dev/null || { echo "error: docker is missing: see https://docs.docker.com/engine/install/" >&2; exit 1; }
docker version >/dev/null 2>&1 || {
  echo "error: the Docker daemon does not respond:" >&2
  docker version 2>&1 >/dev/null | head -n 3 >&2
  echo "Is it started (systemctl start docker), and may this user reach it (group docker, or DOCKER_HOST)?" >&2
  exit 1
}
