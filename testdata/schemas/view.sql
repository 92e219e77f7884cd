-- Views: options, check options, rules and those that need a dummy first.
CREATE SCHEMA app;
CREATE TABLE app.t (id integer PRIMARY KEY, name text, grp integer);
CREATE VIEW app.simple AS SELECT id, name FROM app.t;
CREATE VIEW app."Odd ""view""" ("Col 1", "col
2") AS SELECT id, name FROM app.t;
CREATE VIEW app.barrier WITH (security_barrier = true) AS SELECT * FROM app.t WHERE id > 0;
CREATE VIEW app.checked WITH (security_barrier) AS SELECT * FROM app.t WHERE id > 0 WITH LOCAL CHECK OPTION;
CREATE VIEW app.cascaded AS SELECT * FROM app.checked WHERE id < 10 WITH CASCADED CHECK OPTION;
CREATE VIEW app.check_as_option WITH (check_option = local) AS SELECT * FROM app.t WHERE grp = 1;
CREATE RECURSIVE VIEW counting (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM counting WHERE n < 10;
CREATE VIEW app.agg AS SELECT grp, count(*) AS n, max(name) AS m FROM app.t GROUP BY grp HAVING count(*) > 1 ORDER BY grp;
CREATE VIEW app.by_key AS SELECT id, name, grp FROM app.t GROUP BY id;
CREATE VIEW app.with_default AS SELECT id, name FROM app.t;
ALTER VIEW app.with_default ALTER name SET DEFAULT 'from view';
CREATE VIEW app.no_columns AS SELECT FROM app.t;
COMMENT ON VIEW app.simple IS 'simple';
COMMENT ON COLUMN app.simple.name IS 'its name';
CREATE VIEW app.circle AS SELECT 1 AS x, 'a'::text COLLATE "C" AS y, 2 AS "Z z";
CREATE FUNCTION app.f() RETURNS SETOF app.circle LANGUAGE sql AS 'SELECT * FROM app.circle';
CREATE OR REPLACE VIEW app.circle WITH (security_barrier) AS SELECT x, y, "Z z" FROM app.f() WHERE x > 0;
COMMENT ON VIEW app.circle IS 'needs itself';
CREATE VIEW app.circle2 AS SELECT 1 AS x;
CREATE VIEW app.circle3 AS SELECT x FROM app.circle2;
CREATE OR REPLACE VIEW app.circle2 AS SELECT x FROM app.circle3 UNION SELECT 1;
CREATE VIEW app.circle_check AS SELECT id, name FROM app.t;
CREATE FUNCTION app.g(app.circle_check) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OR REPLACE VIEW app.circle_check AS SELECT id, name FROM app.t WHERE app.g(ROW(id, name)::app.circle_check) WITH LOCAL CHECK OPTION;
