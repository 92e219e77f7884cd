#!/bin/bash
# Makes the archives of this folder with the real pg_dump.
#
#   make.sh VERSION BIN_DIR DSN
#
# VERSION is the major version of the programs in BIN_DIR and of the server at DSN,
# whose superuser the connection string names. The roles zoo_owner and zoo_reader, the
# tablespace zoo_space and the database zoo are made there, and dropped again.
set -euo pipefail
ver=$1 bin=$2 dsn=$3 here=$(cd "$(dirname "$0")" && pwd)
db=${dsn%/*}/zoo
psql=("$bin/psql" -qX -v ON_ERROR_STOP=1 -o /dev/null)
drop() {
  "${psql[@]}" "$dsn" <<'SQL'
set client_min_messages = error;
drop database if exists zoo;
drop tablespace if exists zoo_space;
drop role if exists zoo_owner, zoo_reader;
SQL
}
drop
trap drop EXIT
"${psql[@]}" "$dsn" <<'SQL'
set allow_in_place_tablespaces = on;
create role zoo_owner;
create role zoo_reader;
create tablespace zoo_space location '';
grant create on tablespace zoo_space to zoo_owner;
create database zoo encoding 'UTF8' template template0 locale 'C';
comment on database zoo is 'a zoo';
SQL
"${psql[@]}" "$db" -f "$here/zoo.sql"
dump() { "$bin/pg_dump" "$@" "$db"; }
cd "$here"
rm -rf pg"$ver"-*
dump -Fc -f "pg$ver-gzip.custom"
dump -Fc -Z0 -f "pg$ver-none.custom"
dump -Fc | cat >"pg$ver-pipe.custom"
dump -Fd -f "pg$ver-gzip.dir"
dump -Fd -Z0 -f "pg$ver-none.dir"
dump -Ft -f "pg$ver-none.tar"
dump -Fc --inserts -Z9 -f "pg$ver-inserts.custom"
dump -Fc -s -f "pg$ver-schema.custom"
if [ "$ver" -ge 16 ]; then
  dump -Fc -Z lz4 -f "pg$ver-lz4.custom"
  dump -Fc -Z zstd:5 -f "pg$ver-zstd.custom"
  dump -Fd -Z lz4 -f "pg$ver-lz4.dir"
  dump -Fd -Z zstd -f "pg$ver-zstd.dir"
fi
if [ "$ver" -ge 18 ]; then
  "${psql[@]}" "$db" -c 'analyze'
  dump -Fc --statistics -Z zstd -f "pg$ver-statistics.custom"
fi
if [ "$ver" -ge 18 ]; then
  dump -Fp --restrict-key=zoo -f "plain-pg$ver.sql"
  dump -Fp --restrict-key=zoo --clean --if-exists --create --inserts -f "plain-pg$ver-create-inserts.sql"
fi
gzip -f "pg$ver-none.tar"
