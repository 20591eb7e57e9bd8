#!/bin/sh
# Runs a part of the tests with every Python from 3.11 to 3.13 that is installed, each in an
# environment of its own under .pythons; says at the end which were tried, and which are missing.
set -eu
cd "$(dirname "$0")/.."
: "${TESTS:=tests/core tests/engine tests/stores tests/index/test_partition.py tests/cli tests/server/test_http.py tests/test_wheel.py}"
result=0 tried="" missing=""

works() { "$1" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$2')" 2> /dev/null; }

find_python() { # VERSION: from the PATH, or pyenv's newest
    for each in "python$1" $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python 2> /dev/null | sort -rV); do
        if command -v "$each" > /dev/null && works "$each" "$1"; then
            echo "$each"
            return
        fi
    done
}

for version in 3.11 3.12 3.13; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        missing="$missing $version"
        continue
    fi
    place=".pythons/$version"
    [ -x "$place/bin/python" ] || "$python" -m venv "$place"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
    echo "== $("$place/bin/python" -V)"
    # shellcheck disable=SC2086 # a list of paths
    if "$place/bin/python" -m pytest -n auto -p no:cacheprovider $TESTS; then
        tried="$tried $version"
    else
        tried="$tried $version(failed)" result=1
    fi
done
echo "tried:${tried:- none}; not installed:${missing:- none}"
exit $result
