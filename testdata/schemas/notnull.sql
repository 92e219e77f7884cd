-- needs version 18
-- Not-null constraints of 18: names, NO INHERIT, NOT VALID, comments, inheritance.
CREATE SCHEMA app;
CREATE TABLE app.t (
    a integer NOT NULL,
    b integer CONSTRAINT "named b" NOT NULL,
    c integer NOT NULL NO INHERIT,
    d integer CONSTRAINT d_alone NOT NULL NO INHERIT,
    e integer, f integer, g integer,
    CONSTRAINT t_e_not_null NOT NULL e
);
ALTER TABLE app.t ADD CONSTRAINT f_later NOT NULL f NOT VALID;
COMMENT ON CONSTRAINT "named b" ON app.t IS 'named';
COMMENT ON CONSTRAINT t_a_not_null ON app.t IS 'default name, but noted';
COMMENT ON CONSTRAINT f_later ON app.t IS 'not valid';
CREATE TABLE app.child () INHERITS (app.t);
CREATE TABLE app.child_local (c integer NOT NULL, CONSTRAINT local_g NOT NULL g) INHERITS (app.t);
CREATE TABLE app.child_valid () INHERITS (app.t);
ALTER TABLE app.child_valid VALIDATE CONSTRAINT f_later;
CREATE TABLE app.key (id integer PRIMARY KEY, "Odd col" integer NOT NULL);
CREATE TABLE app.part (a integer NOT NULL, b integer CONSTRAINT pb NOT NULL) PARTITION BY LIST (a);
CREATE TABLE app.part1 PARTITION OF app.part FOR VALUES IN (1);
CREATE TABLE app.part2 (b integer CONSTRAINT other_name NOT NULL, a integer NOT NULL);
ALTER TABLE app.part ATTACH PARTITION app.part2 FOR VALUES IN (2);
ALTER TABLE app.key ADD CONSTRAINT unenforced CHECK (id > 0) NOT ENFORCED;
