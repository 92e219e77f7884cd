CREATE TYPE float8_range AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE SCHEMA other;
--:since 14
CREATE TYPE other.text_range AS RANGE (subtype = text, collation = "C", subtype_opclass = text_pattern_ops, multirange_type_name = other."Many Texts");
--:end
--:until 13
CREATE TYPE other.text_range AS RANGE (subtype = text, collation = "C", subtype_opclass = text_pattern_ops);
--:end
COMMENT ON TYPE other.text_range IS 'texts';
CREATE DOMAIN year AS integer CHECK (VALUE > 0);
CREATE TYPE day_range;
CREATE FUNCTION day_range_canonical(day_range) RETURNS day_range LANGUAGE internal IMMUTABLE STRICT AS 'daterange_canonical';
CREATE TYPE day_range AS RANGE (subtype = date, canonical = day_range_canonical, subtype_diff = daterange_subdiff);
GRANT USAGE ON TYPE day_range TO pg_monitor;
REVOKE USAGE ON TYPE float8_range FROM PUBLIC;
ALTER TYPE other.text_range OWNER TO pg_monitor;
--:since 14
CREATE TABLE many_bookings (other day_multirange);
--:end
CREATE TABLE bookings (during day_range, texts other.text_range DEFAULT '[a,b)');
CREATE FUNCTION width(day_range) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT upper($1) - lower($1) $$;
