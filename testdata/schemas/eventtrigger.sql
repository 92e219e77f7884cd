-- needs version 11
CREATE SCHEMA "Odd Schema";
CREATE FUNCTION "Odd Schema"."on ddl"() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;
CREATE EVENT TRIGGER all_ends ON ddl_command_end EXECUTE FUNCTION "Odd Schema"."on ddl"();
CREATE EVENT TRIGGER "Some Tags" ON ddl_command_start WHEN TAG IN ('CREATE TABLE', 'DROP TABLE', 'CREATE FUNCTION') EXECUTE FUNCTION "Odd Schema"."on ddl"();
CREATE EVENT TRIGGER drops ON sql_drop EXECUTE FUNCTION "Odd Schema"."on ddl"();
CREATE EVENT TRIGGER rewrites ON table_rewrite EXECUTE FUNCTION "Odd Schema"."on ddl"();
ALTER EVENT TRIGGER "Some Tags" DISABLE;
ALTER EVENT TRIGGER drops ENABLE ALWAYS;
ALTER EVENT TRIGGER rewrites ENABLE REPLICA;
COMMENT ON EVENT TRIGGER all_ends IS 'all';
CREATE TABLE t (a integer);
