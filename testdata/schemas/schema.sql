-- Schemas: names, owners, comments, and the special treatment of public.
-- roles pghaul_a, Pghaul B
create schema plain;
create schema "Quoted Schema" authorization "Pghaul B";
create schema "select";
comment on schema plain is 'it''s plain \ with a backslash';
comment on schema "Quoted Schema" is E'two\nlines';
comment on schema public is 'ours now';
alter schema public owner to pghaul_a;
grant usage on schema plain to pghaul_a;
grant create on schema public to "Pghaul B" with grant option;
revoke usage on schema public from public;
