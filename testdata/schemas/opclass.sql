CREATE SCHEMA other;
CREATE OPERATOR CLASS other.int4_desc FOR TYPE integer USING btree AS
  OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 btint4cmp(integer, integer);
CREATE OPERATOR FAMILY mixed USING btree;
CREATE OPERATOR CLASS mixed_int4 FOR TYPE integer USING btree FAMILY mixed AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(integer, integer), FUNCTION 2 btint4sortsupport(internal);
ALTER OPERATOR FAMILY mixed USING btree ADD
  OPERATOR 1 < (integer, bigint), OPERATOR 2 <= (integer, bigint), OPERATOR 3 = (integer, bigint), OPERATOR 4 >= (integer, bigint), OPERATOR 5 > (integer, bigint),
  FUNCTION 1 btint48cmp(integer, bigint);
CREATE OPERATOR FAMILY "Empty Family" USING hash;
CREATE OPERATOR CLASS "Odd Class" FOR TYPE point USING gist AS STORAGE box,
  OPERATOR 1 <<, OPERATOR 15 <-> (point, point) FOR ORDER BY float_ops, FUNCTION 1 gist_point_consistent(internal, point, smallint, oid, internal),
  FUNCTION 2 gist_box_union(internal, internal), FUNCTION 3 gist_point_compress(internal), FUNCTION 5 gist_box_penalty(internal, internal, internal),
  FUNCTION 6 gist_box_picksplit(internal, internal), FUNCTION 7 gist_box_same(box, box, internal), FUNCTION 8 (point, point) gist_point_distance(internal, point, smallint, oid, internal);
CREATE DOMAIN posint AS integer;
CREATE OPERATOR CLASS nothing FOR TYPE bigint USING btree AS STORAGE bigint;
CREATE TYPE color AS ENUM ('r', 'g');
CREATE OPERATOR CLASS color_ops DEFAULT FOR TYPE color USING hash AS OPERATOR 1 = (anyenum, anyenum), FUNCTION 1 (color, color) hashenum(anyenum);
COMMENT ON OPERATOR CLASS other.int4_desc USING btree IS 'downwards';
COMMENT ON OPERATOR FAMILY mixed USING btree IS 'two integer types';
ALTER OPERATOR CLASS mixed_int4 USING btree OWNER TO pg_monitor;
ALTER OPERATOR FAMILY mixed USING btree OWNER TO pg_monitor;
CREATE TABLE points (p point, i integer);
CREATE INDEX ON points (i other.int4_desc);
--:since 11
CREATE INDEX ON points USING gist (p "Odd Class");
--:end
