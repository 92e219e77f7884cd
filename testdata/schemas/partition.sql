-- Partitions of all kinds, with attached indexes, keys and constraints.
CREATE SCHEMA app;
CREATE SCHEMA parts;
CREATE FUNCTION app.bucket(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 4';
CREATE TABLE app.by_range (id integer NOT NULL, at timestamptz NOT NULL, v numeric DEFAULT 0, note text COLLATE "C", CHECK (v >= 0)) PARTITION BY RANGE (at);
CREATE TABLE parts.y2024 PARTITION OF app.by_range FOR VALUES FROM ('2024-01-01 00:00+00') TO ('2025-01-01 00:00+00');
CREATE TABLE parts.y2025 PARTITION OF app.by_range (v DEFAULT 1) FOR VALUES FROM ('2025-01-01 00:00+00') TO ('2026-01-01 00:00+00') WITH (fillfactor = 80);
CREATE TABLE parts.future PARTITION OF app.by_range FOR VALUES FROM ('2026-01-01 00:00+00') TO (MAXVALUE);
--:since 11
CREATE TABLE parts.rest PARTITION OF app.by_range DEFAULT;
CREATE TABLE app.by_list (region text, code integer, PRIMARY KEY (region, code)) PARTITION BY LIST (region);
CREATE TABLE app.by_list_eu PARTITION OF app.by_list FOR VALUES IN ('de', 'fr', NULL) PARTITION BY HASH (code);
CREATE TABLE app.by_list_eu_0 PARTITION OF app.by_list_eu FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE app.by_list_eu_1 PARTITION OF app.by_list_eu FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE app.by_list_us PARTITION OF app.by_list FOR VALUES IN ('us', 'it''s "us"');
--:end
CREATE TABLE app.multi (a integer, b text, c date) PARTITION BY RANGE (a, lower(b) COLLATE "C", c);
CREATE TABLE app.multi1 PARTITION OF app.multi FOR VALUES FROM (1, 'a', MINVALUE) TO (10, MAXVALUE, MAXVALUE);
CREATE TABLE app.by_expr (a integer, b integer) PARTITION BY LIST (app.bucket(a));
CREATE TABLE app.by_expr0 PARTITION OF app.by_expr FOR VALUES IN (0, 2);
CREATE TABLE app.other_order (v numeric DEFAULT 0, note text COLLATE "C", gone integer, at timestamptz NOT NULL, id integer NOT NULL, CONSTRAINT by_range_v_check CHECK (v >= 0));
ALTER TABLE app.other_order DROP COLUMN gone;
ALTER TABLE app.by_range ATTACH PARTITION app.other_order FOR VALUES FROM ('2023-01-01 00:00+00') TO ('2024-01-01 00:00+00');
CREATE TABLE app.opclass (t text) PARTITION BY RANGE (t text_pattern_ops);
--:since 11
CREATE TYPE app.mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE app.by_enum (m app.mood) PARTITION BY HASH (m);
CREATE TABLE app.by_enum0 PARTITION OF app.by_enum FOR VALUES WITH (MODULUS 2, REMAINDER 0);
--:end

--:since 11
ALTER TABLE app.by_range ADD CONSTRAINT by_range_key PRIMARY KEY (id, at);
CREATE INDEX by_range_v ON app.by_range (v);
CREATE INDEX only_parent ON ONLY app.by_range (note);
--:end
CREATE INDEX y2024_note ON parts.y2024 (note);
--:since 11
ALTER INDEX app.only_parent ATTACH PARTITION parts.y2024_note;
--:end
CREATE INDEX own_index ON parts.y2025 (note, v);
--:since 11
CREATE UNIQUE INDEX by_list_code ON app.by_list (code, region) INCLUDE (region);
--:end
ALTER TABLE parts.y2024 ADD CONSTRAINT own_check CHECK (id > 0);
ALTER TABLE parts.y2025 ALTER note SET NOT NULL;
--:since 12
CREATE TABLE app.refers (region text, code integer, FOREIGN KEY (region, code) REFERENCES app.by_list);
ALTER TABLE app.by_range ADD FOREIGN KEY (note, id) REFERENCES app.by_list (region, code) ON DELETE SET NULL;
--:end
CREATE UNLOGGED TABLE app.unlogged_part PARTITION OF app.multi FOR VALUES FROM (20, 'a', MINVALUE) TO (30, 'b', MINVALUE);
COMMENT ON TABLE parts.y2024 IS 'a partition';
--:since 11
COMMENT ON INDEX app.by_range_v IS 'an index of parts';
COMMENT ON CONSTRAINT by_range_key ON app.by_range IS 'a key of parts';
--:end
