-- Extensions: the extension itself, its comment, changed privileges of members.
-- needs extension hstore
-- roles pghaul_a
create schema ext;
create extension hstore schema ext;
comment on extension hstore is 'our own words';
revoke execute on function ext.hstore(text, text) from public;
grant execute on function ext.hstore(text, text) to pghaul_a;
create table public.uses_hstore (id integer, h ext.hstore);
comment on extension plpgsql is null;
