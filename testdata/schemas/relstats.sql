-- needs version 18
-- Planner statistics of tables, partitions, indexes on expressions and materialized views.
CREATE SCHEMA app;
CREATE TABLE app.t (id integer PRIMARY KEY, name text, tags text[], r int4range, "Odd col" text);
INSERT INTO app.t SELECT i, 'it''s ' || i % 7, ARRAY['a', 'b' || i % 5], int4range(i, i + 10), E'\\' FROM generate_series(1, 500) i;
CREATE INDEX t_expr ON app.t (lower(name), (id % 10), "Odd col");
CREATE TABLE app.part (id integer, x text) PARTITION BY LIST (id);
CREATE TABLE app.part1 PARTITION OF app.part FOR VALUES IN (1);
INSERT INTO app.part SELECT 1, i::text FROM generate_series(1, 100) i;
CREATE MATERIALIZED VIEW app.mv AS SELECT id, name FROM app.t;
CREATE INDEX mv_name ON app.mv (lower(name));
CREATE TABLE app.never_analyzed (x integer);
ANALYZE app.t, app.part, app.mv;
