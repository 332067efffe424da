# Sourced by the scripts beside it, from the repository's folder: has .venv ready with a locked set and lab in it.

# The first Python that will do, from LAB_PYTHON or PATH; a pyenv shim without a version behind it will not.
find_python() {
  local name
  for name in ${LAB_PYTHON:+"$LAB_PYTHON"} python3 python3.13 python3.12 python3.11; do
    if "$name" -I -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      printf '%s\n' "$name"
      return
    fi
  done
  echo "$0: no python3 of version 3.11 or newer with venv was found." \
    "Install one (Debian, Ubuntu: apt install python3 python3-venv), or set LAB_PYTHON to one" >&2
  return 2
}

# make_venv LOCKED_SET: installs when the set, pyproject.toml or the place has changed since the last time.
make_venv() {
  local python stamp=.venv/installed-$1 wanted
  wanted=$(printf '%s\n' "$PWD" && cat pyproject.toml "$1")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && .venv/bin/python -P -c 'import lab' 2>/dev/null; then
    return
  fi
  if ! .venv/bin/python -c 'import pip, sys; sys.exit(sys.prefix == sys.base_prefix)' 2>/dev/null; then
    python=$(find_python) || return
    echo "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
  fi
  echo "installing $1"
  pip_install --require-hashes --requirement "$1"
  pip_install --no-deps --no-build-isolation --editable .
  printf '%s\n' "$wanted" >"$stamp"
}

pip_install() {
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input "$@"
}
