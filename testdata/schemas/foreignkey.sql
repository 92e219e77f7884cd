-- Foreign keys.
CREATE SCHEMA app;
CREATE SCHEMA "Other";
CREATE TABLE app.a (id integer PRIMARY KEY, x integer, y integer, UNIQUE (x, y));
CREATE TABLE "Other"."B" (
    id integer PRIMARY KEY REFERENCES app.a,
    "A x" integer, "A y" integer,
    CONSTRAINT pair FOREIGN KEY ("A x", "A y") REFERENCES app.a (x, y) MATCH FULL ON UPDATE CASCADE ON DELETE SET NULL
);
CREATE TABLE app.self (id integer PRIMARY KEY, parent integer REFERENCES app.self ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
ALTER TABLE app.a ADD CONSTRAINT circle FOREIGN KEY (x) REFERENCES "Other"."B" (id) DEFERRABLE;
ALTER TABLE app.a ADD CONSTRAINT later FOREIGN KEY (y) REFERENCES app.self (id) ON DELETE RESTRICT NOT VALID;
--:since 12
CREATE TABLE app.part (id integer, k integer, PRIMARY KEY (id, k)) PARTITION BY HASH (k);
CREATE TABLE app.part0 PARTITION OF app.part FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE app.to_part (id integer, k integer, FOREIGN KEY (id, k) REFERENCES app.part);
CREATE TABLE app.from_part (id integer REFERENCES app.self) PARTITION BY LIST (id);
CREATE TABLE app.from_part1 PARTITION OF app.from_part FOR VALUES IN (1);
ALTER TABLE app.part0 ADD CONSTRAINT own FOREIGN KEY (k) REFERENCES app.a (id);
--:end
COMMENT ON CONSTRAINT pair ON "Other"."B" IS 'a pair';
