CREATE TYPE base;
CREATE FUNCTION base_in(cstring, oid, integer) RETURNS base LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'varcharin';
CREATE FUNCTION base_out(base) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'varcharout';
CREATE FUNCTION base_recv(internal, oid, integer) RETURNS base LANGUAGE internal STABLE STRICT AS 'varcharrecv';
CREATE FUNCTION base_send(base) RETURNS bytea LANGUAGE internal STABLE STRICT AS 'varcharsend';
CREATE TYPE base (
  INPUT = base_in, OUTPUT = base_out, RECEIVE = base_recv, SEND = base_send, TYPMOD_IN = varchartypmodin, TYPMOD_OUT = varchartypmodout,
  ANALYZE = array_typanalyze, INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended, CATEGORY = 'S', PREFERRED = true,
  DEFAULT = 'it''s', DELIMITER = ';', COLLATABLE = true);
COMMENT ON TYPE base IS 'a base type';
ALTER TYPE base OWNER TO pg_monitor;
CREATE SCHEMA other;
CREATE TYPE other."Fixed";
CREATE FUNCTION other.fixed_in(cstring) RETURNS other."Fixed" LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION other.fixed_out(other."Fixed") RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE other."Fixed" (INPUT = other.fixed_in, OUTPUT = other.fixed_out, INTERNALLENGTH = 4, PASSEDBYVALUE, ALIGNMENT = int4, STORAGE = plain, CATEGORY = 'x');
CREATE TYPE vec;
CREATE FUNCTION vec_in(cstring) RETURNS vec LANGUAGE internal IMMUTABLE STRICT AS 'point_in';
CREATE FUNCTION vec_out(vec) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'point_out';
--:since 14
CREATE TYPE vec (INPUT = vec_in, OUTPUT = vec_out, INTERNALLENGTH = 16, ALIGNMENT = double, ELEMENT = float8, SUBSCRIPT = raw_array_subscript_handler);
--:end
--:until 13
CREATE TYPE vec (INPUT = vec_in, OUTPUT = vec_out, INTERNALLENGTH = 16, ALIGNMENT = double, ELEMENT = float8);
--:end
CREATE TYPE never_defined;
CREATE TYPE other."Never ""Defined""";
COMMENT ON TYPE never_defined IS 'only a shell';
GRANT USAGE ON TYPE vec TO pg_monitor;
CREATE TABLE uses_base (b base(10) COLLATE "C", f other."Fixed"[], v vec);
