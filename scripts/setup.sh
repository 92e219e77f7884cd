#!/bin/sh
# setup.sh [server] [race] [lint] [ssh] [s3] [gcs] [azure]: sees to it that what a make target needs is there
#
#   server  PostgreSQL's server programs, for throwaway servers
#   race    a C compiler, which Go's race detector needs
#   lint    staticcheck, in bin/tools
#   ssh     ssh-keygen, with which tests check signatures
#   s3      an S3 server for tests of buckets, in the user's cache folder; built once, which takes some minutes
#   gcs     an emulator of Google Cloud Storage, likewise; the tests do without
#   azure   an emulator of Azure Blob Storage, likewise, from npm: 360 MB; the tests do without
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

ssh() {
  if command -v ssh-keygen >/dev/null 2>&1; then return; fi
  install openssh-client || die "no ssh-keygen. Install OpenSSH's client (Debian, Ubuntu: apt-get install openssh-client)"
}

# The emulator's package in npm. It runs on Node.js 20, though it asks for 22.
azurite=3.37.0

# cache prints the folder of what tests need and no package of the system has.
cache() {
  case $(go env GOHOSTOS) in
    darwin) echo "$HOME/Library/Caches/pghaul/tools" ;;
    *) echo "${XDG_CACHE_HOME:-$HOME/.cache}/pghaul/tools" ;;
  esac
}

# build FOLDER MODULE PACKAGE WHAT: builds a server that a go.mod in a folder below tools names, once for each version.
build() {
  version=$(go -C "$1" list -m -f '{{.Version}}' "$2") || die "reading $1/go.mod failed"
  tool=$(cache)/${2##*/}-$version
  if [ -x "$tool" ]; then return; fi
  mkdir -p "$(cache)"
  echo "setup: building $4 ${2##*/} $version" >&2
  log=$(mktemp)
  if ! CGO_ENABLED=0 GOFLAGS= go -C "$1" build -trimpath -ldflags=-w -o "$tool.$$" "$3" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log" "$tool.$$"
    die "building ${2##*/} $version failed (see above)"
  fi
  rm -f "$log"
  mv "$tool.$$" "$tool"
}

s3() { build tools github.com/versity/versitygw github.com/versity/versitygw/cmd/versitygw "the S3 server"; }

gcs() { build tools/gcs github.com/fsouza/fake-gcs-server github.com/fsouza/fake-gcs-server "the emulator of Google Cloud Storage"; }

azure() {
  folder=$(cache)/azurite-$azurite
  if [ -d "$folder" ]; then return; fi
  if ! command -v npm >/dev/null 2>&1; then
    install nodejs npm || die "no Node.js, which the emulator of Azure Blob Storage runs on. Install nodejs and npm, version 20 or later"
  fi
  mkdir -p "$(cache)"
  rm -rf "$folder.new"
  mkdir "$folder.new"
  echo "setup: installing the emulator of Azure Blob Storage azurite $azurite" >&2
  log=$(mktemp)
  if ! npm install --prefix "$folder.new" --no-audit --no-fund --no-save --ignore-scripts --omit=dev "azurite@$azurite" >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -rf "$log" "$folder.new"
    die "installing azurite $azurite failed (see above)"
  fi
  rm -f "$log"
  mv "$folder.new" "$folder"
}

command -v go >/dev/null 2>&1 || die "Go is not installed (https://go.dev/dl)"
for part; do
  case $part in
    server | race | lint | ssh | s3 | gcs | azure) "$part" ;;
    *) die "no part $part" ;;
  esac
done
