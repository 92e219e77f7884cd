-- A service with many customers, as such databases are: one table of events that holds most of the bytes, and orders, users and documents with
-- embeddings beside it. @scale@ 1 is about 800 MB with its indexes; where the extension vector is missing, @vector@ is false.
CREATE TYPE state AS ENUM ('open', 'paid', 'sent', 'returned');
CREATE TABLE customer (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code text NOT NULL UNIQUE, name text NOT NULL,
  plan text NOT NULL DEFAULT 'basic' CHECK (plan IN ('basic', 'plus', 'all')), since timestamptz NOT NULL DEFAULT now());
CREATE TABLE member (
  id uuid PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customer ON DELETE CASCADE, mail text NOT NULL, name text,
  preferences jsonb NOT NULL DEFAULT '{}', UNIQUE (customer_id, mail));
CREATE TABLE purchase (
  id bigserial PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customer, member_id uuid REFERENCES member,
  state state NOT NULL DEFAULT 'open', amount numeric(12,2) NOT NULL CHECK (amount >= 0),
  tax numeric(12,2) GENERATED ALWAYS AS (round(amount * 0.2, 2)) STORED, at timestamptz NOT NULL, remark text);
CREATE TABLE event (
  id bigserial PRIMARY KEY, customer_id bigint NOT NULL, member_id uuid, kind text NOT NULL, detail jsonb NOT NULL, at timestamptz NOT NULL);
CREATE TABLE document (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id bigint REFERENCES customer, title text NOT NULL, body text NOT NULL);

SELECT pg_catalog.setseed(0.25);
INSERT INTO customer (code, name, plan)
  SELECT 'c' || i, 'Customer number ' || i, (ARRAY['basic', 'plus', 'all'])[1 + i % 3] FROM generate_series(1, 10 + (990 * @scale@)::int) i;
INSERT INTO member
  SELECT md5('m' || i)::uuid, 1 + i % (SELECT count(*) FROM customer), 'member' || i || '@mail.example', 'Member ' || md5(i::text),
    jsonb_build_object('dark', i % 2 = 0, 'language', (ARRAY['en', 'de', 'fr'])[1 + i % 3])
  FROM generate_series(1, 50 + (49950 * @scale@)::int) i;
INSERT INTO purchase (customer_id, member_id, state, amount, at, remark)
  SELECT 1 + i % (SELECT count(*) FROM customer), md5('m' || 1 + i % (SELECT count(*) FROM member))::uuid, (enum_range(NULL::state))[1 + i % 4],
    (random() * 2000)::numeric(12,2), timestamptz '2025-03-01 00:00+00' + i * interval '41 s',
    CASE WHEN i % 4 = 0 THEN E'first\tsecond\nthird \\ ' || md5(i::text) END
  FROM generate_series(1, 100 + (499900 * @scale@)::int) i;
INSERT INTO event (customer_id, member_id, kind, detail, at)
  SELECT 1 + i % (SELECT count(*) FROM customer), md5('m' || 1 + i % (SELECT count(*) FROM member))::uuid,
    (ARRAY['login', 'view', 'search', 'buy', 'export'])[1 + i % 5],
    jsonb_build_object('address', '10.1.' || i % 250 || '.' || i % 253, 'client', 'Mozilla/5.0 (X11; Linux x86_64)', 'page', '/app/' || md5((i % 4000)::text),
      'ms', (random() * 900)::int, 'ok', i % 13 <> 0, 'trace', md5(i::text), 'labels', jsonb_build_array('a' || i % 9, 'b' || i % 4)),
    timestamptz '2025-03-01 00:00+00' + i * interval '11 s'
  FROM generate_series(1, 300 + (1349700 * @scale@)::int) i;
INSERT INTO document (customer_id, title, body)
  SELECT 1 + i % (SELECT count(*) FROM customer), 'Document ' || i, repeat(md5(i::text) || ' ', 12) FROM generate_series(1, 20 + (19980 * @scale@)::int) i;

DO $vectors$
BEGIN
  IF @vector@ THEN
    CREATE EXTENSION vector;
    ALTER TABLE document ADD embedding vector(384);
    UPDATE document SET embedding = (SELECT array_agg((random() * 2 - 1)::real) FROM generate_series(1, 384) WHERE id = id)::vector;
    CREATE INDEX document_embedding ON document USING hnsw (embedding vector_cosine_ops);
  END IF;
END $vectors$;
CREATE INDEX ON member (customer_id);
CREATE INDEX ON purchase (customer_id, at DESC);
CREATE INDEX ON purchase (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX ON event (customer_id, at);
CREATE INDEX ON event (kind, at);
CREATE INDEX ON event USING gin (detail jsonb_path_ops);
ALTER TABLE event ADD FOREIGN KEY (customer_id) REFERENCES customer, ADD FOREIGN KEY (member_id) REFERENCES member;
CREATE VIEW customer_sum AS SELECT c.id, c.name, sum(p.amount) AS amount FROM customer c LEFT JOIN purchase p ON p.customer_id = c.id GROUP BY c.id;
CREATE MATERIALIZED VIEW event_day AS SELECT date_trunc('day', at) AS day, kind, count(*) AS n FROM event GROUP BY 1, 2;
CREATE UNIQUE INDEX ON event_day (day, kind);
ALTER TABLE purchase ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON purchase USING (customer_id = nullif(current_setting('app.customer', true), '')::bigint);
VACUUM ANALYZE;
