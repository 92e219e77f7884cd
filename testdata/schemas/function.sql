SET check_function_bodies = off;
CREATE FUNCTION plain() RETURNS integer LANGUAGE sql AS 'SELECT 1';
--:since 14
CREATE FUNCTION body(x integer, y integer DEFAULT 2) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN x + y;
--:end
--:until 13
CREATE FUNCTION body(x integer, y integer DEFAULT 2) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT x + y';
--:end
--:since 14
CREATE FUNCTION atomic(a text) RETURNS SETOF text LANGUAGE sql BEGIN ATOMIC SELECT a; SELECT upper(a) UNION ALL SELECT 'it''s'; END;
--:end
CREATE FUNCTION dollars() RETURNS text LANGUAGE plpgsql AS $a$ BEGIN RETURN $$x$$ || $_$y$_$; END $a$;
CREATE FUNCTION all_of_it(IN a integer, OUT b text, INOUT c numeric(5,2), VARIADIC d text[]) RETURNS SETOF record LANGUAGE plpgsql
  STABLE STRICT SECURITY DEFINER COST 12.5 ROWS 7 PARALLEL RESTRICTED
  SET search_path TO "Odd Path", public, '' SET work_mem TO '16MB' SET "my.custom" TO 'a ''quoted'' \ value' SET datestyle TO 'ISO', 'DMY'
  AS $$ BEGIN RETURN; END $$;
CREATE FUNCTION tabular(lim integer DEFAULT 10) RETURNS TABLE (id bigint, "Name" character varying) LANGUAGE sql ROWS 3 AS 'SELECT 1::bigint, ''x''::varchar LIMIT lim';
CREATE FUNCTION poly(anyelement, VARIADIC anyarray DEFAULT '{}'::text[]) RETURNS anyelement LANGUAGE sql AS 'SELECT $1';
--:since 14
CREATE FUNCTION poly2(anycompatible, anycompatiblerange) RETURNS anycompatiblemultirange LANGUAGE sql AS 'SELECT NULL';
--:end
CREATE FUNCTION wfunc(integer) RETURNS bigint LANGUAGE internal WINDOW IMMUTABLE AS 'window_row_number';
CREATE FUNCTION leak(text) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT LEAKPROOF AS 'texteq';
CREATE FUNCTION cost_internal(text) RETURNS boolean LANGUAGE internal IMMUTABLE COST 100 AS 'texteq';
--:since 12
CREATE FUNCTION supported(integer, integer) RETURNS SETOF integer LANGUAGE internal IMMUTABLE STRICT SUPPORT generate_series_int4_support AS 'generate_series_int4';
--:end
CREATE FUNCTION lib() RETURNS trigger LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler';
CREATE FUNCTION "Odd (Name)"("Arg One" integer, "select" text DEFAULT E'a\nb''c\\') RETURNS void LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- a comment
  RETURN NEW;
END;
$$;
CREATE TABLE people (id integer, name text);
CREATE FUNCTION of_rows(people, people[], public.people.name%TYPE) RETURNS SETOF people LANGUAGE sql AS 'SELECT * FROM people';
--:since 14
CREATE FUNCTION late(people) RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT id FROM people LIMIT 1; END;
--:end
CREATE VIEW needs_func AS SELECT id, body(id) AS b FROM people;
CREATE SCHEMA other;
CREATE FUNCTION other.plain(integer) RETURNS integer LANGUAGE sql AS $$SELECT '\''::text::int$$;
CREATE FUNCTION other.plain(text) RETURNS integer LANGUAGE sql AS 'SELECT 2';
ALTER FUNCTION other.plain(text) OWNER TO pg_monitor;
COMMENT ON FUNCTION all_of_it(integer, numeric, text[]) IS 'everything at once';
COMMENT ON FUNCTION "Odd (Name)"(integer, text) IS 'odd';
REVOKE ALL ON FUNCTION body(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION body(integer, integer) TO pg_monitor WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION "Odd (Name)"(integer, text) TO pg_monitor;
REVOKE EXECUTE ON FUNCTION pg_catalog.pg_stat_reset() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_catalog.pg_stat_reset() TO pg_monitor;
REVOKE EXECUTE ON FUNCTION pg_catalog.lower(text) FROM PUBLIC;
ALTER FUNCTION plain() DEPENDS ON EXTENSION plpgsql;
