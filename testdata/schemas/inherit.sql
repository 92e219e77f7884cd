-- Inheritance: what is said again in a child and what not.
CREATE SCHEMA app;
CREATE SCHEMA other;
CREATE TABLE app.parent (a integer NOT NULL, b text DEFAULT 'parent', c integer CHECK (c > 0), d integer);
CREATE TABLE app.second (c integer, e date NOT NULL);
CREATE TABLE app.child (f integer) INHERITS (app.parent);
CREATE TABLE app.nothing_new () INHERITS (app.parent);
CREATE TABLE app.two_parents (b text DEFAULT 'own', g text) INHERITS (app.parent, app.second);
CREATE TABLE other.no_default (b text DEFAULT NULL) INHERITS (app.parent);
CREATE TABLE app.dropped_default () INHERITS (app.parent);
ALTER TABLE app.dropped_default ALTER b DROP DEFAULT;
CREATE TABLE app.new_default () INHERITS (app.parent);
ALTER TABLE app.new_default ALTER b SET DEFAULT 'new', ALTER d SET DEFAULT 7;
CREATE TABLE app.not_null_child () INHERITS (app.parent);
ALTER TABLE app.not_null_child ALTER d SET NOT NULL;
CREATE TABLE app.grandchild (h integer) INHERITS (app.child);
CREATE TABLE app.own_check (CONSTRAINT own CHECK (a < 100)) INHERITS (app.parent);
ALTER TABLE app.parent ADD CONSTRAINT not_inherited CHECK (a <> 13) NO INHERIT;
ALTER TABLE app.parent ADD CONSTRAINT later CHECK (d < 1000) NOT VALID;
CREATE TABLE app.attached (a integer NOT NULL, b text, c integer, d integer, z integer, CONSTRAINT parent_c_check CHECK (c > 0), CONSTRAINT later CHECK (d < 1000));
ALTER TABLE app.attached INHERIT app.parent;
CREATE TABLE app.left_alone () INHERITS (app.parent);
ALTER TABLE app.left_alone NO INHERIT app.parent;
--:since 12
CREATE TABLE app.gen_parent (a integer, b integer GENERATED ALWAYS AS (a * 2) STORED);
CREATE TABLE app.gen_child (c integer) INHERITS (app.gen_parent);
--:end
CREATE TABLE app.stats_child () INHERITS (app.parent);
ALTER TABLE app.stats_child ALTER a SET STATISTICS 10, ALTER b SET STORAGE EXTERNAL;
COMMENT ON COLUMN app.stats_child.a IS 'inherited';
