#!/bin/sh
# Installs the programs of other people that tests and docs/clients talk to redask with, where they
# are missing. Without root or apt-get it says what is missing; the tests that need it fail.
set -eu
cd "$(dirname "$0")/.."

need() { # PROGRAM PACKAGE
    command -v "$1" > /dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
        apt-get install -y -qq --no-install-recommends "$2" > /dev/null && return
        apt-get update -qq && apt-get install -y -qq --no-install-recommends "$2" > /dev/null && return
    fi
    echo "tools/clients.sh: $1 is missing: install the package $2 to run its tests" >&2
}

node_packages() { # what tests/node/package.json names, beside it
    command -v npm > /dev/null || return 0
    (cd tests/node && npm install --silent --no-audit --no-fund --no-package-lock)
}

need curl curl
need openssl openssl
need node nodejs
need npm npm
need psql postgresql-client
ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || need initdb postgresql
need java default-jre-headless
[ -e /usr/share/java/postgresql.jar ] || need no-jdbc-driver libpostgresql-jdbc-java
node_packages
