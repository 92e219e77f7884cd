-- Privileges: of tables, columns, sequences, functions, types, schemas, system objects; default privileges.
-- roles pghaul_a, Pghaul B
create schema acl;
grant usage on schema acl to public;
grant all on schema acl to pghaul_a with grant option;

create table acl.t (a integer, "B b" text, c integer);
grant select on acl.t to public;
grant select, insert, update on acl.t to pghaul_a with grant option;
grant all on acl.t to "Pghaul B";
grant select (a, "B b") on acl.t to public;
grant update (c), insert (c), references (c) on acl.t to pghaul_a with grant option;

create table acl.owned (a integer);
alter table acl.owned owner to pghaul_a;
revoke all on acl.owned from pghaul_a;
grant select on acl.owned to pghaul_a;

create table acl.chained (a integer);
alter table acl.chained owner to pghaul_a;
set session authorization pghaul_a;
grant select on acl.chained to "Pghaul B" with grant option;
set session authorization "Pghaul B";
grant select on acl.chained to public;
reset session authorization;

create sequence acl.s;
grant usage on sequence acl.s to pghaul_a;
grant select, update on sequence acl.s to "Pghaul B" with grant option;

create view acl.v as select a from acl.t;
grant select on acl.v to public;

create function acl.f(integer, "char") returns integer language sql as 'select $1';
revoke execute on function acl.f(integer, "char") from public;
grant execute on function acl.f(integer, "char") to pghaul_a;

create type acl.ty as enum ('x');
revoke usage on type acl.ty from public;
grant usage on type acl.ty to pghaul_a with grant option;

create domain acl.d as integer;
revoke usage on type acl.d from public;
grant usage on type acl.d to "Pghaul B";

revoke usage on language sql from public;
grant usage on language sql to pghaul_a;

revoke execute on function pg_catalog.pg_sleep(double precision) from public;
grant select on pg_catalog.pg_authid to pghaul_a;
grant select (rolname, tableoid) on pg_catalog.pg_authid to "Pghaul B";

alter default privileges grant select on tables to pghaul_a;
alter default privileges for role pghaul_a revoke execute on functions from public;
alter default privileges for role pghaul_a in schema acl grant all on tables to "Pghaul B" with grant option;
alter default privileges in schema acl grant usage on sequences to pghaul_a;
alter default privileges for role "Pghaul B" grant usage on types to pghaul_a;
alter default privileges for role "Pghaul B" grant create on schemas to pghaul_a;
alter default privileges in schema acl grant execute on functions to pghaul_a;
--:since 18
alter default privileges grant select on large objects to pghaul_a;
--:end
