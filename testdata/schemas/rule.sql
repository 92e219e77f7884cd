-- Rules.
CREATE SCHEMA app;
CREATE TABLE app.t (id integer, name text);
CREATE TABLE app.log (at timestamptz, what text);
CREATE VIEW app.v AS SELECT * FROM app.t;
CREATE RULE ins AS ON INSERT TO app.v DO INSTEAD INSERT INTO app.t VALUES (new.id, new.name);
CREATE RULE "Upd ""rule""" AS ON UPDATE TO app.v WHERE new.id <> old.id DO ALSO (INSERT INTO app.log VALUES (now(), 'upd'); UPDATE app.t SET id = new.id WHERE id = old.id);
CREATE RULE nothing AS ON DELETE TO app.t DO INSTEAD NOTHING;
CREATE RULE off AS ON INSERT TO app.t DO ALSO INSERT INTO app.log VALUES (now(), 'it''s in');
ALTER TABLE app.t DISABLE RULE off;
CREATE RULE repl AS ON UPDATE TO app.t DO ALSO NOTIFY app_t;
ALTER TABLE app.t ENABLE REPLICA RULE repl;
CREATE RULE always AS ON UPDATE TO app.t DO ALSO NOTIFY app_t2;
ALTER TABLE app.t ENABLE ALWAYS RULE always;
COMMENT ON RULE "Upd ""rule""" ON app.v IS 'a rule';
