-- A small shop: what pghaul demo dumps, restores and compares.
CREATE ROLE shop_owner;
CREATE ROLE shop_reader;
CREATE SCHEMA shop AUTHORIZATION shop_owner;
GRANT USAGE ON SCHEMA shop TO shop_reader;
CREATE TYPE shop.state AS ENUM ('ordered', 'paid', 'sent', 'returned');
CREATE DOMAIN shop.price AS numeric(10,2) CHECK (VALUE >= 0);
CREATE TABLE shop.customer (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    email text NOT NULL UNIQUE,
    settings jsonb NOT NULL DEFAULT '{}',
    since date NOT NULL DEFAULT current_date);
CREATE TABLE shop.purchase (
    id bigserial,
    customer bigint NOT NULL REFERENCES shop.customer ON DELETE CASCADE,
    state shop.state NOT NULL DEFAULT 'ordered',
    amount shop.price NOT NULL,
    tax numeric(10,2) GENERATED ALWAYS AS (round(amount * 0.19, 2)) STORED,
    note text,
    at timestamptz NOT NULL,
    PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE shop.purchase_2025 PARTITION OF shop.purchase FOR VALUES FROM ('2025-01-01 00:00+00') TO ('2026-01-01 00:00+00');
CREATE TABLE shop.purchase_2026 PARTITION OF shop.purchase FOR VALUES FROM ('2026-01-01 00:00+00') TO ('2027-01-01 00:00+00');
INSERT INTO shop.customer (name, email, settings, since)
    SELECT 'Customer ' || i, 'c' || i || '@example.test', jsonb_build_object('theme', CASE i % 2 WHEN 0 THEN 'dark' ELSE 'light' END), date '2024-01-01' + i % 700
    FROM generate_series(1, 20000) i;
INSERT INTO shop.purchase (customer, state, amount, note, at)
    SELECT 1 + i % 20000, (enum_range(NULL::shop.state))[1 + i % 4], (i % 100000) / 100.0,
           CASE WHEN i % 5 = 0 THEN E'two\nlines,\ta tab and a \\ backslash ' || md5(i::text) END,
           timestamptz '2025-01-01 00:00+00' + i * interval '150 seconds'
    FROM generate_series(1, 400000) i;
CREATE INDEX purchase_customer ON shop.purchase (customer, at DESC);
CREATE INDEX customer_settings ON shop.customer USING gin (settings jsonb_path_ops);
CREATE FUNCTION shop.total(bigint) RETURNS numeric LANGUAGE sql STABLE
    AS $$ SELECT coalesce(sum(amount), 0) FROM shop.purchase WHERE customer = $1 $$;
CREATE FUNCTION shop.touch() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN NEW.since := current_date; RETURN NEW; END $$;
CREATE TRIGGER customer_touch BEFORE UPDATE ON shop.customer FOR EACH ROW EXECUTE FUNCTION shop.touch();
CREATE VIEW shop.best AS SELECT id, name, shop.total(id) AS total FROM shop.customer WHERE since < '2025-01-01';
CREATE MATERIALIZED VIEW shop.daily AS SELECT at::date AS day, state, count(*) AS n, sum(amount) AS sum FROM shop.purchase GROUP BY 1, 2;
CREATE UNIQUE INDEX daily_key ON shop.daily (day, state);
ALTER TABLE shop.customer ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shop.customer FOR SELECT TO shop_reader USING (email = current_user || '@example.test');
GRANT SELECT ON shop.customer, shop.purchase TO shop_reader;
ALTER TABLE shop.customer OWNER TO shop_owner;
ALTER TABLE shop.purchase OWNER TO shop_owner;
COMMENT ON TABLE shop.purchase IS 'One row for each purchase; cut by year';
SELECT lo_from_bytea(0, decode(repeat('d0d0cafe', 5000), 'hex'));
