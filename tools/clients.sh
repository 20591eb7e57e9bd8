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

node_packages() { # what tests/node/package.json names, beside it; npm takes what an interrupted install left for whole
    command -v npm > /dev/null || return 0
    (
        cd tests/node
        [ -e node_modules/.whole ] || rm -rf node_modules
        rm -f node_modules/.whole
        npm install --silent --no-audit --no-fund --no-package-lock
        touch node_modules/.whole
    )
}

duckdb_packages() { # DuckDB's postgres extension, of a version of DuckDB that is not ours
    [ -d tests/clients/duckdb_packages/duckdb_extensions ] && return 0
    "${PYTHON:-python3}" -m pip install --quiet --no-warn-conflicts --target tests/clients/duckdb_packages \
        duckdb==1.5.5 duckdb-extensions==1.5.5 duckdb-extension-postgres-scanner==1.5.5 pytz==2026.2
}

need curl curl
need openssl openssl
need node nodejs
need npm npm
need psql postgresql-client
need chromium chromium
PATH="$PATH:/usr/sbin" need haproxy haproxy
ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || need initdb postgresql
need java default-jre-headless
[ -e /usr/share/java/postgresql.jar ] || need no-jdbc-driver libpostgresql-jdbc-java
[ -e /usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so ] || [ -e /usr/lib/odbc/psqlodbcw.so ] ||
    need no-odbc-driver odbc-postgresql
ldconfig -p | grep -q 'libodbc\.so\.2' || need no-odbc-manager libodbc2
need go golang-go
[ -d /usr/share/gocode/src/github.com/jackc/pgx/v4 ] || need no-pgx golang-github-jackc-pgx-v4-dev
perl -MDBD::Pg -e 1 2> /dev/null || need no-dbd-pg libdbd-pg-perl
need php php-cli
php -m 2> /dev/null | grep -q pdo_pgsql || need no-php-pgsql php-pgsql
need Rscript r-base-core
[ -d /usr/lib/R/site-library/RPostgreSQL ] || need no-rpostgresql r-cran-rpostgresql
node_packages
duckdb_packages
