#!/bin/sh
# Runs a command with its temporary files in memory, where there is room: most tests commit, and an fsync of a
# disk may take 12 ms. Without room (or without /dev/shm) they are where they always are.
#     tools/temporary_memory.sh COMMAND [ARGUMENT …]
set -eu
needed=8388608 # KiB; a whole run of the tests leaves about a third of it
free=$(df -Pk /dev/shm 2> /dev/null | awk 'NR == 2 { print $4 }')
if [ -w /dev/shm ] && [ "${free:-0}" -ge "$needed" ]; then
    TMPDIR=$(mktemp -d /dev/shm/redask-tests.XXXXXX)
    chmod 1777 "$TMPDIR" # as /tmp is: some tests drop their rights
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
    trap 'exit 130' INT TERM
fi
"$@"
