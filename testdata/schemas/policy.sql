-- Policies and row security.
-- roles pghaul_reader, pghaul Writer
CREATE SCHEMA app;
CREATE TABLE app.t (id integer, owner name, "Odd col" text);
ALTER TABLE app.t ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone ON app.t USING (true);
CREATE POLICY "Odd ""policy""" ON app.t AS RESTRICTIVE FOR SELECT TO pghaul_reader, "pghaul Writer" USING (owner = CURRENT_USER);
CREATE POLICY ins ON app.t FOR INSERT WITH CHECK (id > 0);
CREATE POLICY upd ON app.t FOR UPDATE TO pghaul_reader USING (id > 0) WITH CHECK ("Odd col" <> 'it''s');
CREATE POLICY del ON app.t FOR DELETE USING ((SELECT count(*) FROM app.t t2 WHERE t2.id = t.id) = 1);
COMMENT ON POLICY "Odd ""policy""" ON app.t IS 'odd';
CREATE TABLE app.not_enabled (id integer);
CREATE POLICY sleeping ON app.not_enabled USING (id = 1);
CREATE TABLE app.enabled_only (id integer);
ALTER TABLE app.enabled_only ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE TABLE app.part (id integer) PARTITION BY LIST (id);
ALTER TABLE app.part ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON app.part USING (id > 0);
