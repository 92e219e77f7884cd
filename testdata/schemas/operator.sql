CREATE SCHEMA "Odd Ops";
CREATE FUNCTION pow2(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ($1 ^ $2)::integer';
CREATE FUNCTION "Odd Ops"."eq (it)"(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 = $2';
CREATE FUNCTION "Odd Ops".ne(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 <> $2';
CREATE FUNCTION negate(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT -$1';
CREATE OPERATOR ** (PROCEDURE = pow2, LEFTARG = integer, RIGHTARG = integer);
CREATE OPERATOR "Odd Ops".=== (PROCEDURE = "Odd Ops"."eq (it)", LEFTARG = text, RIGHTARG = text, COMMUTATOR = OPERATOR("Odd Ops".===),
  NEGATOR = OPERATOR("Odd Ops".!==), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR "Odd Ops".!== (PROCEDURE = "Odd Ops".ne, LEFTARG = text, RIGHTARG = text, COMMUTATOR = OPERATOR("Odd Ops".!==),
  NEGATOR = OPERATOR("Odd Ops".===), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR @#! (PROCEDURE = negate, RIGHTARG = integer);
CREATE FUNCTION lt_only(integer, bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 < $2';
CREATE OPERATOR <<<< (PROCEDURE = lt_only, LEFTARG = integer, RIGHTARG = bigint, COMMUTATOR = >>>>);
COMMENT ON OPERATOR ** (integer, integer) IS 'power';
COMMENT ON OPERATOR @#! (NONE, integer) IS 'prefix';
COMMENT ON OPERATOR "Odd Ops".=== (text, text) IS 'the same';
ALTER OPERATOR ** (integer, integer) OWNER TO pg_monitor;
CREATE VIEW powers AS SELECT x ** 2 AS y, @#! x AS z FROM generate_series(1, 3) AS x;
--:until 13
CREATE OPERATOR |!| (PROCEDURE = negate, LEFTARG = integer);
COMMENT ON OPERATOR |!| (integer, NONE) IS 'postfix';
--:end
