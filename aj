#!/usr/bin/env bash
# Runs aj from this checkout. The first run creates the environment that it needs (see .ci/environment.sh).
set -euo pipefail
called_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
. .ci/environment.sh
environment requirements.lock aj
cd "$called_in"
AJ_CALLED_AS=$0 exec "$venv/bin/aj" "$@" # hints print the command as it was called
