CREATE FUNCTION add_up(bigint, integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE FUNCTION take_off(bigint, integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 - $2';
CREATE FUNCTION finish(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
CREATE FUNCTION finish_more(bigint, integer) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
CREATE AGGREGATE total(integer) (SFUNC = add_up, STYPE = bigint, INITCOND = '0', FINALFUNC = finish, PARALLEL = safe, COMBINEFUNC = int8pl, SSPACE = 64);
--:since 11
CREATE AGGREGATE moving(integer) (SFUNC = add_up, STYPE = bigint, FINALFUNC = finish_more, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE,
  MSFUNC = add_up, MINVFUNC = take_off, MSTYPE = bigint, MSSPACE = 32, MINITCOND = '7', MFINALFUNC = finish_more, MFINALFUNC_EXTRA, MFINALFUNC_MODIFY = SHAREABLE);
--:end
CREATE AGGREGATE how_many(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0', PARALLEL = restricted);
CREATE AGGREGATE biggest(integer) (SFUNC = int4larger, STYPE = integer, SORTOP = >);
CREATE FUNCTION cat_args(text, text, VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT $1';
CREATE AGGREGATE "Odd Agg"("First" text, VARIADIC "Items" text[]) (SFUNC = cat_args, STYPE = text, INITCOND = 'it''s \');
CREATE AGGREGATE my_percentile(double precision ORDER BY anyelement) (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA);
--:since 11
CREATE AGGREGATE my_rank(VARIADIC "any" ORDER BY VARIADIC "any") (SFUNC = ordered_set_transition_multi, STYPE = internal, FINALFUNC = rank_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY, HYPOTHETICAL);
--:end
CREATE AGGREGATE my_avg(numeric) (SFUNC = numeric_avg_accum, STYPE = internal, SERIALFUNC = numeric_avg_serialize, DESERIALFUNC = numeric_avg_deserialize, COMBINEFUNC = numeric_avg_combine, FINALFUNC = numeric_avg);
COMMENT ON AGGREGATE how_many(*) IS 'counts';
COMMENT ON AGGREGATE my_percentile(double precision ORDER BY anyelement) IS 'ordered';
REVOKE ALL ON FUNCTION how_many() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION my_percentile(double precision, anyelement) TO pg_monitor;
ALTER AGGREGATE biggest(integer) OWNER TO pg_monitor;
CREATE VIEW totals AS SELECT total(x) FROM generate_series(1, 3) AS x;
