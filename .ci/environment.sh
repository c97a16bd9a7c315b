# Makes the environment that ./aj and ./test run in; sourced by them, from the top of the checkout.
#
# AJ_VENV  its folder, instead of .venv
# PYTHON   the interpreter it is made with, instead of python3
#
# An environment that was not made here is used as it is and never changed.

here=$PWD
venv=${AJ_VENV:-$here/.venv}
case $venv in
  /*) ;;
  *) venv=$OLDPWD/$venv ;; # as seen from where the command was called
esac

fail() {
  echo "$0: $*" >&2
  exit 1
}

# environment LOCK COMMAND: see to it that the environment holds what LOCK says and has COMMAND.
environment() {
  local lock=$1 command=$2
  if [ ! -e "$venv/.made-by-aj" ] && [ -n "$(ls -A "$venv" 2>/dev/null)" ]; then
    [ -x "$venv/bin/$command" ] ||
      fail "$venv is not from here and has no $command; install it there, or name another folder with AJ_VENV"
  elif ! is_ready "$lock"; then
    set_up "$lock"
  fi
}

is_ready() {
  # What tests need includes what running needs.
  { same_stamp "$1" || same_stamp requirements-dev.lock; } && has_wanted_python
}

stamp_of() { # the lock, what is installed, and where: an environment does not survive a move
  { cat "$1" pyproject.toml; echo "$here"; } | cksum
}

same_stamp() {
  local kept=
  { read -r kept <"$venv/.stamp-$1"; } 2>/dev/null || return 1
  [ "$kept" = "$(stamp_of "$1")" ]
}

has_wanted_python() {
  [ -x "$venv/bin/python" ] || return 1
  local kept=
  read -r kept <"$venv/.made-by-aj" || return 1
  [ -z "${PYTHON:-}" ] || [ "$PYTHON" = "$kept" ]
}

set_up() {
  local lock=$1 python
  python=$(suitable_python) || exit 1
  mkdir -p "$venv"
  : >>"$venv/.made-by-aj"
  if command -v flock >/dev/null; then
    exec 9>"$venv/.lock"
    flock 9
  fi
  is_ready "$lock" || fill "$lock" "$python" # somebody else may have been faster
  exec 9>&-
}

fill() {
  local lock=$1 python=$2
  echo "$0: setting up $venv with $python (once; it takes a minute)" >&2
  if ! has_wanted_python; then
    rm -rf "$venv"/{bin,include,lib,lib64,pyvenv.cfg}
    "$python" -m venv "$venv" >&2 || fail "$python cannot make an environment; is its venv module installed?"
  fi
  echo "$python" >"$venv/.made-by-aj"
  rm -f "$venv"/.stamp-*
  install --require-hashes -r "$lock"
  install --no-deps --no-build-isolation -e .
  stamp_of "$lock" >"$venv/.stamp-$lock"
}

install() {
  # What is never imported need not be compiled.
  "$venv/bin/python" -m pip install -qq --no-compile --disable-pip-version-check "$@" >&2 9>&- ||
    fail "could not install what the project needs; the lines above say why"
}

suitable_python() {
  local newest python candidates=(python3 python3.13 python3.12 python3.11 python3.14)
  [ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
  for newest in 13 14; do # there is no bundled model for 3.14: it is taken where there is no other
    for python in "${candidates[@]}"; do
      if "$python" -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, $newest))" 2>/dev/null; then
        echo "$python"
        return
      fi
    done
  done
  fail "Python 3.11 to 3.14 is needed, and ${PYTHON:-python3} is not one; name one with PYTHON=/path/to/python"
}
