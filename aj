#!/usr/bin/env bash
# Runs aj from this checkout; the first time, it makes the environment that it needs (see .ci/environment.sh).
set -euo pipefail
called_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
. .ci/environment.sh
environment requirements.lock aj
cd "$called_in"
exec "$venv/bin/aj" "$@"
