-- Extended statistics.
CREATE SCHEMA app;
CREATE SCHEMA other;
CREATE TABLE app.t (a integer, b integer, c text);
CREATE STATISTICS app.all_kinds ON a, b FROM app.t;
CREATE STATISTICS other."Some kinds" (ndistinct, dependencies) ON a, c FROM app.t;
--:since 12
CREATE STATISTICS app.mcv (mcv) ON a, b, c FROM app.t;
--:end
--:since 14
CREATE STATISTICS app.expr ON lower(c), (a + b) FROM app.t;
CREATE STATISTICS app.one_expr ON (a % 7) FROM app.t;
--:end
--:since 13
ALTER STATISTICS app.all_kinds SET STATISTICS 1000;
ALTER STATISTICS app.mcv SET STATISTICS 0;
--:end
COMMENT ON STATISTICS other."Some kinds" IS 'some';
CREATE MATERIALIZED VIEW app.mv AS SELECT * FROM app.t;
CREATE STATISTICS app.of_mv ON a, b FROM app.mv;
