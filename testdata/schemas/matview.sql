-- Materialized views.
CREATE SCHEMA app;
CREATE TABLE app.t (id integer PRIMARY KEY, name text, grp integer);
INSERT INTO app.t VALUES (1, 'a', 1);
CREATE MATERIALIZED VIEW app.first AS SELECT id, name FROM app.t;
CREATE MATERIALIZED VIEW app."Second one" WITH (fillfactor = 70) AS SELECT id FROM app.first WITH NO DATA;
CREATE VIEW app.between AS SELECT id FROM app.first;
CREATE MATERIALIZED VIEW app.a_third AS SELECT id FROM app.between;
CREATE MATERIALIZED VIEW app.fourth AS SELECT id FROM app.a_third;
CREATE MATERIALIZED VIEW app.by_key AS SELECT id, name, grp FROM app.t GROUP BY id;
CREATE INDEX by_key_name ON app.by_key (name);
CREATE UNIQUE INDEX first_id ON app.first (id);
ALTER MATERIALIZED VIEW app.first ALTER name SET STATISTICS 10;
ALTER MATERIALIZED VIEW app.first ALTER name SET STORAGE EXTERNAL;
ALTER MATERIALIZED VIEW app.first CLUSTER ON first_id;
COMMENT ON MATERIALIZED VIEW app.first IS 'the first';
COMMENT ON COLUMN app.first.id IS 'its id';
