#!/bin/sh
# lint.sh: gofmt, go vet and staticcheck over the repository; prints nothing when all is well
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh lint
status=0
unformatted=$(gofmt -l cmd e2e internal pgarchive)
if [ -n "$unformatted" ]; then
  echo "not formatted by gofmt:"
  echo "$unformatted"
  status=1
fi
go vet ./... || status=1
for tool in bin/tools/staticcheck-*; do
  "$tool" ./... || status=1
done
exit $status
