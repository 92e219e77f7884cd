-- A database with something of everything that people have, and odd values and names.
CREATE SCHEMA app;
CREATE TYPE app.state AS ENUM ('ordered', 'paid', 'it''s sent', 'returned');
CREATE DOMAIN app.price AS numeric(10,2) CHECK (VALUE >= 0);
CREATE TYPE app.place AS (street text, no int);
CREATE TABLE app.customer (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    email text NOT NULL UNIQUE,
    home app.place,
    settings jsonb NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    photo bytea,
    since date NOT NULL DEFAULT current_date);
CREATE TABLE app.purchase (
    id bigserial,
    customer bigint NOT NULL REFERENCES app.customer ON DELETE CASCADE,
    state app.state NOT NULL DEFAULT 'ordered',
    amount app.price NOT NULL,
    tax numeric(10,2) GENERATED ALWAYS AS (round(amount * 0.19, 2)) STORED,
    note text,
    at timestamptz NOT NULL,
    PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE app.purchase_2025 PARTITION OF app.purchase FOR VALUES FROM ('2025-01-01 00:00+00') TO ('2026-01-01 00:00+00');
CREATE TABLE app.purchase_rest PARTITION OF app.purchase DEFAULT;
CREATE TABLE "Odd ""Name""" ("Column ""1""" int PRIMARY KEY, "select" text DEFAULT E'a\nb', "ünïcode" float8);
CREATE TABLE event (id bigserial PRIMARY KEY, org int NOT NULL, kind text NOT NULL, payload jsonb NOT NULL, at timestamptz NOT NULL);
CREATE UNLOGGED TABLE cache (k text PRIMARY KEY, v text);
CREATE TABLE empty ();
CREATE TABLE parent (a int, b text);
CREATE TABLE child (c date) INHERITS (parent);
INSERT INTO app.customer (name, email, home, settings, tags, photo, since)
    SELECT 'Customer ' || i, 'c' || i || '@example.test', row('Street ' || i, i)::app.place,
        jsonb_build_object('theme', CASE i % 2 WHEN 0 THEN 'dark' ELSE 'light' END),
        ARRAY['t' || i % 10, NULL, 'a "quoted" one', E'back\\slash'], decode(md5(i::text), 'hex'), date '2024-01-01' + i % 700
    FROM generate_series(1, 1000) i;
INSERT INTO app.purchase (customer, state, amount, note, at)
    SELECT 1 + i % 1000, (enum_range(NULL::app.state))[1 + i % 4], (i % 100000) / 100.0,
           CASE WHEN i % 5 = 0 THEN E'two\nlines,\ta tab, \r, \b and a \\ backslash \\. ' || md5(i::text) END,
           timestamptz '2025-01-01 00:00+00' + i * interval '1 hour'
    FROM generate_series(1, 12000) i;
INSERT INTO "Odd ""Name""" SELECT i, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE '\N' END, 1.0 / i FROM generate_series(1, 50) i;
INSERT INTO "Odd ""Name""" VALUES (-1, '\.', 'NaN'), (-2, E'\\.\n\\.', '-Infinity');
INSERT INTO event (org, kind, payload, at)
    SELECT i % 100, (ARRAY['login', 'view', 'click'])[1 + i % 3],
        jsonb_build_object('ip', '10.0.0.' || i % 256, 'trace', md5(i::text), 'path', repeat('x', i % 50)),
        timestamptz '2025-01-01 00:00+00' + i * interval '13 seconds'
    FROM generate_series(1, 20000) i;
INSERT INTO cache VALUES ('a', 'b');
INSERT INTO empty DEFAULT VALUES;
INSERT INTO parent VALUES (1, 'p');
INSERT INTO child VALUES (2, 'c', '2026-02-28');
CREATE INDEX purchase_customer ON app.purchase (customer, at DESC);
CREATE INDEX customer_settings ON app.customer USING gin (settings jsonb_path_ops);
CREATE INDEX customer_lower ON app.customer (lower(name)) WHERE since > '2024-06-01';
CREATE INDEX event_at ON event USING brin (at);
CREATE INDEX event_kind ON event (kind, org) INCLUDE (at);
ALTER TABLE event ADD CONSTRAINT event_org CHECK (org >= 0) NOT VALID;
CREATE STATISTICS event_stats ON org, kind FROM event;
CREATE FUNCTION app.total(bigint) RETURNS numeric LANGUAGE sql STABLE
    AS $$ SELECT coalesce(sum(amount), 0) FROM app.purchase WHERE customer = $1 $$;
CREATE FUNCTION app.touch() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN NEW.since := current_date; RETURN NEW; END $$;
CREATE PROCEDURE app.nothing(INOUT a int DEFAULT 3) LANGUAGE plpgsql AS $_$ BEGIN a := a + 1; END $_$;
CREATE TRIGGER customer_touch BEFORE UPDATE ON app.customer FOR EACH ROW EXECUTE FUNCTION app.touch();
CREATE VIEW app.best AS SELECT id, name, app.total(id) AS total FROM app.customer WHERE since < '2025-01-01';
CREATE MATERIALIZED VIEW app.daily AS SELECT at::date AS day, state, count(*) AS n, sum(amount) AS sum FROM app.purchase GROUP BY 1, 2;
CREATE UNIQUE INDEX daily_key ON app.daily (day, state);
CREATE RULE no_delete AS ON DELETE TO cache DO INSTEAD NOTHING;
ALTER TABLE app.customer ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON app.customer FOR SELECT TO pghaul_e2e_reader USING (email = current_user || '@example.test');
CREATE SEQUENCE app.counter START 7 INCREMENT 3;
SELECT nextval('app.counter'), nextval('app.counter');
GRANT USAGE ON SCHEMA app TO pghaul_e2e_reader;
GRANT SELECT ON app.customer, app.purchase TO pghaul_e2e_reader;
GRANT UPDATE (name) ON app.customer TO pghaul_e2e_reader;
ALTER TABLE app.purchase OWNER TO pghaul_e2e_owner;
ALTER DEFAULT PRIVILEGES IN SCHEMA app GRANT SELECT ON TABLES TO pghaul_e2e_reader;
COMMENT ON TABLE app.purchase IS 'One row for each purchase; it''s cut by year';
COMMENT ON COLUMN event.kind IS E'two\nlines';
SELECT lo_from_bytea(4242, decode(repeat('d0d0cafe', 5000), 'hex'));
SELECT lo_from_bytea(4243, '');
COMMENT ON LARGE OBJECT 4242 IS 'a picture';
ANALYZE;
