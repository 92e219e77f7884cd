CREATE TYPE pair AS (a integer, b integer);
CREATE FUNCTION pair_from(internal) RETURNS internal LANGUAGE internal IMMUTABLE STRICT AS 'prsd_lextype';
CREATE FUNCTION pair_to(internal) RETURNS pair LANGUAGE internal IMMUTABLE STRICT AS 'record_recv';
CREATE TRANSFORM FOR pair LANGUAGE sql (FROM SQL WITH FUNCTION pair_from(internal), TO SQL WITH FUNCTION pair_to(internal));
CREATE TRANSFORM FOR integer LANGUAGE sql (FROM SQL WITH FUNCTION prsd_lextype(internal), TO SQL WITH FUNCTION int4recv(internal));
CREATE TRANSFORM FOR text LANGUAGE plpgsql (FROM SQL WITH FUNCTION pair_from(internal));
COMMENT ON TRANSFORM FOR pair LANGUAGE sql IS 'pairs';
CREATE FUNCTION transformed(pair, integer) RETURNS integer LANGUAGE sql TRANSFORM FOR TYPE pair, FOR TYPE integer AS 'SELECT 1';
