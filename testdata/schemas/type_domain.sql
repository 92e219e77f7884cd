CREATE DOMAIN posint AS integer CHECK (VALUE > 0);
CREATE DOMAIN us_zip AS character(5) NOT NULL DEFAULT '00000' CONSTRAINT "digits only" CHECK (VALUE ~ '^\d{5}$') CONSTRAINT not_zero CHECK (VALUE <> '00000' OR current_user = 'postgres');
CREATE DOMAIN german AS text COLLATE "C" DEFAULT 'gr''uß\n';
CREATE DOMAIN "Money List" AS numeric(12,2)[] DEFAULT ARRAY[1.0, 2.5]::numeric[];
CREATE DOMAIN stamp AS timestamp with time zone DEFAULT now();
CREATE DOMAIN strict_posint AS posint NOT NULL;
CREATE DOMAIN named_nn AS integer CONSTRAINT must_be_there NOT NULL;
COMMENT ON DOMAIN posint IS 'positive';
COMMENT ON CONSTRAINT posint_check ON DOMAIN posint IS 'the check';
COMMENT ON CONSTRAINT "digits only" ON DOMAIN us_zip IS E'five\ndigits';
ALTER DOMAIN posint ADD CONSTRAINT less CHECK (VALUE < 1000000) NOT VALID;
COMMENT ON CONSTRAINT less ON DOMAIN posint IS 'not valid yet';
ALTER DOMAIN us_zip OWNER TO pg_monitor;
REVOKE ALL ON DOMAIN us_zip FROM PUBLIC;
GRANT USAGE ON DOMAIN posint TO pg_monitor;
CREATE FUNCTION is_even(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 2 = 0';
CREATE DOMAIN even AS integer CHECK (is_even(VALUE));
CREATE TABLE people (id posint, zip us_zip, number even);
--:since 11
CREATE TABLE many (evens even[]);
--:end
--:since 17
COMMENT ON CONSTRAINT must_be_there ON DOMAIN named_nn IS 'a not-null constraint with a name';
COMMENT ON CONSTRAINT us_zip_not_null ON DOMAIN us_zip IS 'one without';
--:end
