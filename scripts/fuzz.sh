#!/bin/sh
# fuzz.sh DURATION: runs every fuzz test of the repository for that long, one after the other
set -eu
cd "$(dirname "$0")/.."
for package in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    echo "== $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$package"
  done
done
