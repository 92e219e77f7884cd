-- Large objects: owners, privileges, comments, contents; groups with the same owner and privileges.
-- roles pghaul_a
select pg_catalog.lo_from_bytea(200001, 'first');
select pg_catalog.lo_from_bytea(200002, 'second''s \\ text');
select pg_catalog.lo_from_bytea(200003, 'owned');
select pg_catalog.lo_from_bytea(200004, '');
select pg_catalog.lo_from_bytea(200005, 'granted');
select pg_catalog.lo_from_bytea(200006, 'granted too');
alter large object 200003 owner to pghaul_a;
grant select on large object 200005 to public;
grant select on large object 200006 to public;
grant all on large object 200003 to public;
comment on large object 200002 is 'a comment';
