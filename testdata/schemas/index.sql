-- Indexes: methods, options, expressions, predicates.
CREATE SCHEMA app;
CREATE SCHEMA "Other";
CREATE TABLE app.t (id integer, name text, tags text[], doc jsonb, p point, r int4range, at timestamptz, "Odd col" text, v tsvector);
CREATE INDEX t_name ON app.t (name);
--:until 12
CREATE UNIQUE INDEX t_id ON app.t (id) WITH (fillfactor = 50);
--:end
--:since 13
CREATE UNIQUE INDEX t_id ON app.t (id) WITH (fillfactor = 50, deduplicate_items = off);
--:end
CREATE INDEX "Odd ""index""" ON app.t ("Odd col" DESC NULLS LAST, lower(name) text_pattern_ops);
--:since 11
CREATE INDEX t_partial ON app.t (id, at) INCLUDE (name) WHERE name IS NOT NULL AND id > 10;
--:end
--:until 10
CREATE INDEX t_partial ON app.t (id, at) WHERE name IS NOT NULL AND id > 10;
--:end
CREATE INDEX t_collated ON app.t (name COLLATE "C");
CREATE INDEX t_hash ON app.t USING hash (name);
CREATE INDEX t_gin ON app.t USING gin (tags) WITH (fastupdate = off, gin_pending_list_limit = 128);
CREATE INDEX t_gin2 ON app.t USING gin (doc jsonb_path_ops);
CREATE INDEX t_gist ON app.t USING gist (r, p);
--:since 13
CREATE INDEX t_gist_opts ON app.t USING gist (v tsvector_ops (siglen = 100)) WITH (buffering = on);
--:end
CREATE INDEX t_spgist ON app.t USING spgist (p);
CREATE INDEX t_brin ON app.t USING brin (at) WITH (pages_per_range = 4, autosummarize = true);
CREATE INDEX t_expr ON app.t ((id * 2), (doc ->> 'key'), name);
--:since 11
ALTER INDEX app.t_expr ALTER COLUMN 1 SET STATISTICS 400;
ALTER INDEX app.t_expr ALTER COLUMN 2 SET STATISTICS 50;
--:end
COMMENT ON INDEX app.t_expr IS 'on expressions';
COMMENT ON INDEX app."Odd ""index""" IS 'odd';
CREATE TABLE app.clustered (id integer PRIMARY KEY, x integer);
CREATE INDEX clustered_x ON app.clustered (x);
ALTER TABLE app.clustered CLUSTER ON clustered_x;
CREATE TABLE "Other".clustered_key (id integer CONSTRAINT "The Key" PRIMARY KEY);
ALTER TABLE "Other".clustered_key CLUSTER ON "The Key";
COMMENT ON INDEX "Other"."The Key" IS 'of a constraint';
CREATE MATERIALIZED VIEW app.mv AS SELECT id, name FROM app.t;
CREATE UNIQUE INDEX mv_id ON app.mv (id);
ALTER MATERIALIZED VIEW app.mv CLUSTER ON mv_id;
