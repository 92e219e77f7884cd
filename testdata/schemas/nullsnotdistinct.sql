-- needs version 15
CREATE SCHEMA app;
CREATE TABLE app.t (a integer, b integer, CONSTRAINT u UNIQUE NULLS NOT DISTINCT (a), CONSTRAINT v UNIQUE NULLS NOT DISTINCT (a, b) INCLUDE (b));
CREATE UNIQUE INDEX i ON app.t (b) NULLS NOT DISTINCT WHERE a > 0;
CREATE SEQUENCE app.free;
CREATE UNLOGGED SEQUENCE app.unlogged;
CREATE UNLOGGED TABLE app.mixed (id integer GENERATED ALWAYS AS IDENTITY, s serial);
ALTER SEQUENCE app.mixed_id_seq SET LOGGED;
CREATE VIEW app.invoker WITH (security_invoker = true) AS SELECT a FROM app.t;
CREATE TABLE app.negative_scale (n numeric(5,-2));
