-- needs version 18
-- Generated columns of 18: virtual ones, alone and inherited.
CREATE SCHEMA app;
CREATE TABLE app.virtual (a integer, b integer GENERATED ALWAYS AS (a * 2) VIRTUAL, c text GENERATED ALWAYS AS ('x' || a) STORED);
CREATE TABLE app.child () INHERITS (app.virtual);
CREATE TABLE app.other_child (b integer GENERATED ALWAYS AS (a * 3) VIRTUAL) INHERITS (app.virtual);
CREATE TABLE app.part (a integer, b integer GENERATED ALWAYS AS (a + 1) VIRTUAL) PARTITION BY LIST (a);
CREATE TABLE app.part1 PARTITION OF app.part (b GENERATED ALWAYS AS (a + 10)) FOR VALUES IN (1);
CREATE TABLE app.part2 PARTITION OF app.part FOR VALUES IN (2);
