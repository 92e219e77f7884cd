-- One table with nearly all the bytes, and little ones beside it. @scale@ 1 is about 450 MB.
CREATE TABLE big (id bigserial PRIMARY KEY, kind text NOT NULL, detail jsonb NOT NULL, at timestamptz NOT NULL);
INSERT INTO big (kind, detail, at)
  SELECT (ARRAY['login', 'view', 'buy'])[1 + i % 3],
    jsonb_build_object('address', '10.1.' || i % 250 || '.' || i % 253, 'page', '/app/' || md5((i % 4000)::text), 'ms', i % 900, 'trace', md5(i::text),
      'client', 'Mozilla/5.0 (X11; Linux x86_64)'), timestamptz '2025-03-01 00:00+00' + i * interval '11 s'
  FROM generate_series(1, (1600000 * @scale@)::int) i;
CREATE TABLE small AS SELECT i AS id, md5(i::text) AS note FROM generate_series(1, (120000 * @scale@)::int) i;
VACUUM ANALYZE;
