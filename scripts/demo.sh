#!/bin/sh
# demo.sh: shows the whole loop on a server that it starts and removes; sets up what it needs
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh server
exec bin/pghaul demo "$@"
