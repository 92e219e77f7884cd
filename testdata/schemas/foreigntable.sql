-- Foreign tables.
CREATE SCHEMA app;
CREATE FOREIGN DATA WRAPPER dummy OPTIONS (debug 'true');
CREATE SERVER srv FOREIGN DATA WRAPPER dummy;
CREATE SERVER "Odd srv" FOREIGN DATA WRAPPER dummy;
CREATE FOREIGN TABLE app.plain (id integer) SERVER srv;
CREATE FOREIGN TABLE app."Odd ""ft""" (
    id integer OPTIONS (key 'true', "Odd option" 'it''s') NOT NULL,
    name text OPTIONS (column_name 'n') COLLATE "C" DEFAULT 'x',
    CHECK (id > 0)
) SERVER "Odd srv" OPTIONS (schema_name 'remote', "Table" 'it''s', a 'b');
ALTER FOREIGN TABLE app."Odd ""ft""" ALTER id SET STATISTICS 10, ALTER name SET STORAGE MAIN;
ALTER FOREIGN TABLE app."Odd ""ft""" ADD CONSTRAINT later CHECK (id < 10) NOT VALID;
CREATE TABLE app.parent (id integer, name text) ;
CREATE FOREIGN TABLE app.child (extra integer) INHERITS (app.parent) SERVER srv;
CREATE TABLE app.part (id integer, name text) PARTITION BY LIST (id);
CREATE FOREIGN TABLE app.part1 PARTITION OF app.part FOR VALUES IN (1) SERVER srv OPTIONS (p '1');
CREATE FUNCTION app.tg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER tg BEFORE INSERT ON app.plain FOR EACH ROW EXECUTE PROCEDURE app.tg();
ALTER FOREIGN TABLE app.plain DISABLE TRIGGER tg;
COMMENT ON FOREIGN TABLE app.plain IS 'far away';
COMMENT ON COLUMN app.plain.id IS 'a column far away';
