-- Constraints: keys, checks, exclusion; deferrable, not valid, no inherit.
CREATE SCHEMA app;
CREATE TABLE app.keys (
    a integer CONSTRAINT "Primary ""key""" PRIMARY KEY,
    b integer UNIQUE,
    c integer UNIQUE DEFERRABLE,
    d integer UNIQUE DEFERRABLE INITIALLY DEFERRED,
    e integer, f text, "G h" text,
--:since 11
    CONSTRAINT multi UNIQUE (e, f) INCLUDE (b, "G h") WITH (fillfactor = 60),
--:end
    CONSTRAINT incl UNIQUE ("G h")
);
CREATE TABLE app.checks (
    a integer CHECK (a > 0),
    b integer CONSTRAINT named CHECK (b < 10),
    c text CHECK (c <> 'it''s'),
    CONSTRAINT two CHECK (a < b OR b IS NULL),
    CONSTRAINT "No inherit" CHECK (length(c) > 2) NO INHERIT
);
ALTER TABLE app.checks ADD CONSTRAINT unchecked CHECK (a <> 7) NOT VALID;
ALTER TABLE app.checks ADD CONSTRAINT unchecked_alone CHECK (a <> 8) NO INHERIT NOT VALID;
CREATE TABLE app.child () INHERITS (app.checks);
CREATE TABLE app.lone (a integer);
CREATE FUNCTION app.ok(app.lone) RETURNS boolean LANGUAGE sql AS 'SELECT true';
ALTER TABLE app.lone ADD CONSTRAINT needs_row_type CHECK (app.ok(lone.*));
CREATE TABLE app.excl (
    r int4range, c circle, room integer,
    EXCLUDE USING gist (r WITH &&),
    CONSTRAINT partial EXCLUDE USING gist (c WITH &&) WHERE (room IS NOT NULL) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT hashed EXCLUDE USING hash (room WITH =)
);
COMMENT ON CONSTRAINT two ON app.checks IS 'on a check';
COMMENT ON CONSTRAINT unchecked ON app.checks IS 'on one not valid';
COMMENT ON CONSTRAINT "Primary ""key""" ON app.keys IS 'on a key';
COMMENT ON CONSTRAINT partial ON app.excl IS 'on an exclusion';
CREATE DOMAIN app.dom AS text CONSTRAINT short CHECK (length(VALUE) < 10) CONSTRAINT filled NOT NULL DEFAULT 'x';
ALTER DOMAIN app.dom ADD CONSTRAINT later CHECK (VALUE <> 'no') NOT VALID;
COMMENT ON CONSTRAINT later ON DOMAIN app.dom IS 'on a domain, not valid';
