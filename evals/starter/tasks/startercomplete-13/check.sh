#!/usr/bin/env bash
# check.sh WORKDIR [--json]: grades WORKDIR/solution.py and prints one line.
# Exit code: 0 pass, 1 not passed, 2 could not be graded or usage, 3 bug in lab, 130 interrupted.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"

fail() {
  printf 'check.sh: %s\n' "$1" >&2
  exit 2
}

whole() {
  [[ -s $suite/.venv/lab-ready.json && -s $suite/.venv/grader/__main__.py && -x $suite/.venv/bin/python ]]
}

# The Pythons that may have lab, most particular first.
pythons() {
  [[ -z ${LAB_PYTHON:-} ]] || printf '%s\n' "$LAB_PYTHON"
  printf '%s\n' "$suite/../../.venv/bin/python"
  local lab
  if lab=$(type -P lab) && lab=$(readlink -f -- "$lab"); then
    printf '%s\n' "${lab%/*}/python"
  fi
  printf '%s\n' python3
}

# Nothing is imported from the current folder (an empty path to Python): an agent may have been there.
# Of many checks at once one loads lab, and the others, when their turn comes, find the venv.
build_with_lab='
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import fcntl, os
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
parts = [sys.argv[1] + "/.venv/" + name for name in ("lab-ready.json", "grader/__main__.py", "bin/python")]
if all(os.path.exists(part) and os.path.getsize(part) for part in parts):
    sys.exit(0)
try:
    from lab.venv import main
except Exception:
    sys.exit(4)
sys.exit(main(sys.argv[1:]))
'

build() {
  local python code
  while IFS= read -r python; do
    type -P -- "$python" >/dev/null || continue
    "$python" -c "$build_with_lab" "$suite" </dev/null >&2
    code=$?
    case $code in
      0) whole || fail "lab has built the grading venv, but it is not whole: remove $suite/.venv" ;;
      2 | 3 | 130) exit "$code" ;; # lab has said why
      *) continue ;; # no lab there
    esac
    return
  done < <(pythons)
  fail "the suite has no grading venv, and no lab was found to build it: set LAB_PYTHON to a Python that has lab"
}

script=${BASH_SOURCE[0]}
while [[ -L $script ]]; do
  target=$(readlink -- "$script")
  [[ $target == /* || $script != */* ]] || target=${script%/*}/$target
  script=$target
done
case $script in
  /*) task=${script%/*} ;;
  */*) task=./${script%/*} ;;
  *) task=. ;;
esac
suite=$task/../..

[[ $# -ge 1 ]] || fail "usage: check.sh WORKDIR [--json]"
whole || build
shopt -s execfail
exec "$suite/.venv/bin/python" -I -S -X utf8 "$suite/.venv/grader/__main__.py" "$task" "$@"
fail "the suite's Python cannot be started: remove $suite/.venv"
