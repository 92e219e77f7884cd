-- Tables: names, options, persistence, typed tables, access methods, replica identity.
CREATE SCHEMA "Mixed Case";
CREATE SCHEMA app;
CREATE TABLE app.empty ();
CREATE TABLE app.plain (id integer, name text);
CREATE TABLE "Mixed Case"."Tab""le" ("Col""umn" integer, "select" text, "a b" date, "new
line" boolean);
COMMENT ON TABLE "Mixed Case"."Tab""le" IS E'has "quotes", it''s got\nlines and a \\ backslash';
COMMENT ON COLUMN "Mixed Case"."Tab""le"."Col""umn" IS 'first';
COMMENT ON COLUMN "Mixed Case"."Tab""le"."new
line" IS 'fourth';
CREATE TABLE "Mixed Case"."table
with newline" (x integer);
COMMENT ON TABLE "Mixed Case"."table
with newline" IS 'a name of two lines';
CREATE TABLE app."user" ("order" integer, "table" integer, "Ünïcode" text);
CREATE UNLOGGED TABLE app.volatile (id integer PRIMARY KEY, payload bytea);
CREATE TABLE app.options (id integer, t text) WITH (fillfactor = 70, autovacuum_enabled = false, parallel_workers = 4,
    toast.autovacuum_enabled = false);
--:since 11
ALTER TABLE app.options SET (toast_tuple_target = 256);
--:end
CREATE TABLE app.toast_only (t text) WITH (toast.autovacuum_vacuum_threshold = 70);
CREATE TABLE app.float_option (t text) WITH (autovacuum_vacuum_scale_factor = 0.125);

CREATE TYPE app.person AS (name text, born date, note varchar(20));
CREATE TABLE app.typed OF app.person;
CREATE TABLE app.typed_more OF app.person (name WITH OPTIONS NOT NULL, born DEFAULT '2000-01-01', CHECK (length(name) > 1), PRIMARY KEY (name));

CREATE TABLE app.repl_nothing (id integer);
ALTER TABLE app.repl_nothing REPLICA IDENTITY NOTHING;
CREATE TABLE app.repl_full (id integer);
ALTER TABLE app.repl_full REPLICA IDENTITY FULL;
CREATE TABLE app.repl_index (id integer NOT NULL, other integer NOT NULL);
CREATE UNIQUE INDEX repl_index_other ON app.repl_index (other);
ALTER TABLE app.repl_index REPLICA IDENTITY USING INDEX repl_index_other;
CREATE TABLE app.repl_key (id integer PRIMARY KEY);
ALTER TABLE app.repl_key REPLICA IDENTITY USING INDEX repl_key_pkey;

CREATE TABLE app.forced (id integer);
ALTER TABLE app.forced ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.forced FORCE ROW LEVEL SECURITY;
CREATE TABLE app.forced_only (id integer);
ALTER TABLE app.forced_only FORCE ROW LEVEL SECURITY;

--:since 12
CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE app.other_am (id integer) USING other_heap;
--:end

CREATE TABLE app.row_type_user (one app.plain, many app.plain[], loop "Mixed Case"."Tab""le");
