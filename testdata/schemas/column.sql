-- Columns: types, defaults, generation, collation, storage, compression, targets, options.
CREATE SCHEMA app;
CREATE COLLATION app."Coll" (provider = libc, locale = 'C');
CREATE DOMAIN app.positive AS integer CHECK (VALUE > 0);
CREATE FUNCTION app.later(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE TABLE app.types (
    a smallint, b integer, c bigint, d numeric, e numeric(10,2), f numeric(5,2), g real, h double precision,
    i character(5), j character varying(10), k varchar, l text, m bytea, n boolean, o date, p time, q time(3) with time zone,
    r timestamp, s timestamptz(0), t interval, u interval year to month, v interval second(2), w uuid, x json, y jsonb, z xml,
    aa integer[], ab text[][], ac varchar(3)[], ad point, ae inet, af bit(3), ag bit varying(7), ah int4range, ai tsvector,
    aj "char", ak name, al oid, am regclass, an app.positive,
--:since 11
    ao app.positive[],
--:end
    ap money, aq macaddr8, ar pg_lsn
);
CREATE TABLE app.defaults (
    a integer DEFAULT 1,
    b text DEFAULT 'it''s "quoted"',
    c text DEFAULT E'back\\slash\nnewline',
    d timestamptz DEFAULT now(),
    e integer DEFAULT app.later(41),
    f text[] DEFAULT '{}'::text[],
    g integer DEFAULT NULL,
    h date DEFAULT CURRENT_DATE,
    i text DEFAULT CURRENT_USER,
    j jsonb DEFAULT '{"a": [1, 2]}',
    k integer DEFAULT (1 + 2) * 3 NOT NULL,
    l numeric DEFAULT -1.5
);
--:since 12
CREATE TABLE app.generated (
    a integer,
    b integer GENERATED ALWAYS AS (a * 2) STORED,
    c text GENERATED ALWAYS AS (('x'::text || (a)::text)) STORED NOT NULL,
    d integer GENERATED ALWAYS AS (app.later(a)) STORED
);
--:end
CREATE TABLE app.collated (
    a text COLLATE "C",
    b text COLLATE app."Coll",
    c varchar(10) COLLATE "POSIX" NOT NULL,
    d text COLLATE "default",
    e text[] COLLATE "C" DEFAULT '{}'
);
CREATE TABLE app.storage (a text, b text, c text, d text, e integer, "F g" bytea);
ALTER TABLE app.storage ALTER a SET STORAGE PLAIN, ALTER b SET STORAGE EXTERNAL, ALTER c SET STORAGE MAIN, ALTER "F g" SET STORAGE EXTERNAL;
--:since 14
ALTER TABLE app.storage ALTER d SET COMPRESSION pglz;
--:end
ALTER TABLE app.storage ALTER a SET STATISTICS 0, ALTER b SET STATISTICS 500, ALTER e SET STATISTICS -1;
ALTER TABLE app.storage ALTER e SET (n_distinct = -0.5, n_distinct_inherited = 100), ALTER "F g" SET (n_distinct = 3);
CREATE TABLE app.dropped (a integer, b text, c date, d integer DEFAULT 4);
ALTER TABLE app.dropped DROP COLUMN b, DROP COLUMN d;
ALTER TABLE app.dropped ADD COLUMN e text DEFAULT 'added' NOT NULL;
COMMENT ON COLUMN app.dropped.e IS 'after a hole';
CREATE TABLE app.all_dropped (a integer);
ALTER TABLE app.all_dropped DROP COLUMN a;
