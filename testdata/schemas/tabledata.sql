-- Rows: column lists, no columns, generated and identity columns, partitions loaded through their root, materialized views.
CREATE SCHEMA app;
CREATE TABLE app.empty ();
INSERT INTO app.empty DEFAULT VALUES;
INSERT INTO app.empty DEFAULT VALUES;
CREATE TABLE app.odd ("Col 1" integer, gone text, t text, b boolean, n numeric, f double precision, bits bit(3), d date);
ALTER TABLE app.odd DROP COLUMN gone;
INSERT INTO app.odd VALUES (1, E'tab\there\nnewline \\ back', true, 1.50, 'NaN', B'101', '2024-02-29'), (NULL, '', false, 'NaN', 1e300, NULL, NULL), (-3, '\N', NULL, NULL, '-Infinity', B'000', 'infinity');
--:since 12
CREATE TABLE app.gen (a integer, b integer GENERATED ALWAYS AS (a * 2) STORED, c text DEFAULT 'x');
INSERT INTO app.gen (a) VALUES (1), (2);
CREATE TABLE app.only_gen (a integer, b integer GENERATED ALWAYS AS (7) STORED);
ALTER TABLE app.only_gen DROP COLUMN a;
INSERT INTO app.only_gen DEFAULT VALUES;
--:end
CREATE TABLE app.ident (id integer GENERATED ALWAYS AS IDENTITY, x integer);
INSERT INTO app.ident (x) VALUES (10), (20);
CREATE TABLE app.serials (id serial, x integer);
INSERT INTO app.serials (x) VALUES (10), (20);
CREATE SEQUENCE app.untouched START 7;
CREATE SEQUENCE app.set_not_called;
SELECT setval('app.set_not_called', 42, false);
CREATE UNLOGGED TABLE app.unlogged (a integer);
INSERT INTO app.unlogged VALUES (1);
--:since 11
CREATE TYPE app.mood AS ENUM ('sad', 'ok');
CREATE TABLE app.by_enum (m app.mood, x integer) PARTITION BY HASH (m);
CREATE TABLE app.by_enum_all PARTITION OF app.by_enum FOR VALUES WITH (MODULUS 1, REMAINDER 0) PARTITION BY LIST (x);
CREATE TABLE app.by_enum_all_1 PARTITION OF app.by_enum_all FOR VALUES IN (1);
INSERT INTO app.by_enum VALUES ('ok', 1);
--:end
CREATE TABLE app.parent (a integer);
CREATE TABLE app.child () INHERITS (app.parent);
INSERT INTO app.parent VALUES (1);
INSERT INTO app.child VALUES (2);
CREATE MATERIALIZED VIEW app.m_a AS SELECT 1 AS x;
CREATE MATERIALIZED VIEW app.m_0 AS SELECT x FROM app.m_a;
CREATE MATERIALIZED VIEW app.m_none AS SELECT 1 AS x WITH NO DATA;
CREATE DOMAIN app.dom AS integer;
CREATE TABLE app.of_domain (d app.dom);
INSERT INTO app.of_domain VALUES (5);
