#!/bin/sh
# setup.sh [server] [race] [lint] [s3]: sees to it that what a make target needs is there
#
#   server  PostgreSQL's server programs, for throwaway servers
#   race    a C compiler, which Go's race detector needs
#   lint    staticcheck, in bin/tools
#   s3      an S3 server for tests of buckets, in the user's cache folder; built once, which takes some minutes
#
# As root on Debian or Ubuntu it installs what is missing from the system's packages; elsewhere it says what to install.
# It prints nothing when there is nothing to do, starts no server and changes no server that is there.
set -eu
cd "$(dirname "$0")/.."
staticcheck=v0.8.2 # 2026.2.2

die() { echo "setup: $*" >&2; exit 1; }

# install PACKAGE...: installs system packages, or fails where it cannot.
install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
  echo "setup: installing $*" >&2
  log=$(mktemp)
  if { DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
    rm -f "$log"
    return 0
  fi
  tail -n 20 "$log" >&2
  rm -f "$log"
  die "installing $* failed (see above)"
}

# have_server: are there server programs where pghaul looks for them? (internal/scratch/localpg/find.go)
have_server() {
  for f in $(echo "${PGHAUL_PG_BINDIRS:-}:$PATH" | tr ':' '\n' | sed 's,$,/initdb,') \
    /usr/lib/postgresql/*/bin/initdb /usr/pgsql-*/bin/initdb /usr/lib/postgresql*/bin/initdb /usr/libexec/postgresql*/initdb \
    /usr/local/pgsql/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb /usr/local/opt/postgresql*/bin/initdb \
    /opt/local/lib/postgresql*/bin/initdb /Applications/Postgres.app/*/*/bin/initdb /Library/PostgreSQL/*/bin/initdb \
    /home/linuxbrew/*/opt/postgresql*/bin/initdb; do
    if [ -x "$f" ] && [ -x "$(dirname "$f")/postgres" ]; then return 0; fi
  done
  return 1
}

server() {
  if have_server; then return; fi
  # The package would make a cluster and start it on port 5432. We start our own, so keep it from doing that, this once.
  conf=/etc/postgresql-common/createcluster.d/pghaul-setup.conf
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    mkdir -p "$(dirname "$conf")"
    echo 'create_main_cluster = false' >"$conf"
    trap 'rm -f "$conf"' EXIT
  fi
  install postgresql || die "no PostgreSQL server programs found. Install them (Debian, Ubuntu: apt-get install postgresql;
  Fedora, Red Hat: dnf install postgresql-server postgresql-contrib; Alpine: apk add postgresql; macOS: brew install postgresql),
  or name the folder that holds initdb and postgres in PGHAUL_PG_BINDIRS."
  rm -f "$conf"
  have_server || die "the package postgresql holds no server programs where pghaul looks for them; name their folder in PGHAUL_PG_BINDIRS"
}

have_compiler() {
  cc=$(go env CC)
  out=$(mktemp)
  if echo '#include <stdlib.h>
int main(void) { return 0; }' | ${cc:-cc} -x c -o "$out" - >/dev/null 2>&1; then
    rm -f "$out"
    return 0
  fi
  rm -f "$out"
  return 1
}

race() {
  if have_compiler; then return; fi
  install gcc libc6-dev || die "no C compiler, which the race detector needs. Install gcc (or clang), or run: make test RACE="
}

lint() {
  tool=bin/tools/staticcheck-$staticcheck
  if [ -x "$tool" ]; then return; fi
  mkdir -p bin/tools
  echo "setup: building staticcheck $staticcheck" >&2
  log=$(mktemp)
  if ! GOBIN=$(pwd)/bin/tools GOFLAGS= go install "honnef.co/go/tools/cmd/staticcheck@$staticcheck" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "building staticcheck $staticcheck failed (see above)"
  fi
  rm -f "$log"
  mv bin/tools/staticcheck "$tool"
}

# s3 builds the server that tools/go.mod names. Where there is no network and nothing cached, its tests are skipped.
s3() {
  version=$(go -C tools list -m -f '{{.Version}}' github.com/versity/versitygw) || die "reading tools/go.mod failed"
  dir=${XDG_CACHE_HOME:-$HOME/.cache}/pghaul/tools
  if [ "$(go env GOHOSTOS)" = darwin ]; then dir=$HOME/Library/Caches/pghaul/tools; fi
  tool=$dir/versitygw-$version
  if [ -x "$tool" ]; then return; fi
  mkdir -p "$dir"
  echo "setup: building the S3 server versitygw $version" >&2
  log=$(mktemp)
  if ! CGO_ENABLED=0 GOFLAGS= go -C tools build -trimpath -ldflags=-w -o "$tool.$$" github.com/versity/versitygw/cmd/versitygw >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log" "$tool.$$"
    die "building versitygw $version failed (see above)"
  fi
  rm -f "$log"
  mv "$tool.$$" "$tool"
}

command -v go >/dev/null 2>&1 || die "Go is not installed (https://go.dev/dl)"
for part; do
  case $part in
    server | race | lint | s3) "$part" ;;
    *) die "no part $part" ;;
  esac
done
