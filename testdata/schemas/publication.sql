CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Odd Table" (id integer PRIMARY KEY, "a b" text, c integer);
CREATE TABLE plain (id integer PRIMARY KEY, name text, ok boolean);
CREATE TABLE parts (id integer) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (10);
CREATE PUBLICATION everything FOR ALL TABLES;
CREATE PUBLICATION several FOR TABLE plain, "Odd Schema"."Odd Table" WITH (publish = 'insert, update');
--:since 15
CREATE PUBLICATION "Odd Pub" FOR TABLE ONLY plain (name, id) WHERE (ok AND name <> 'it''s'), "Odd Schema"."Odd Table" ("a b", id) WITH (publish = '', publish_via_partition_root = true);
--:end
--:since 15
CREATE PUBLICATION schemas FOR TABLES IN SCHEMA "Odd Schema", public WITH (publish = 'truncate, delete');
--:end
--:since 15
CREATE PUBLICATION filtered FOR TABLE parts WHERE (true) WITH (publish_via_partition_root);
--:end
--:until 14
CREATE PUBLICATION "Odd Pub" FOR TABLE ONLY plain WITH (publish = '');
--:end
CREATE PUBLICATION empty;
COMMENT ON PUBLICATION several IS 'some tables';
ALTER PUBLICATION several OWNER TO pg_monitor;
--:since 18
CREATE PUBLICATION generated FOR TABLE plain WITH (publish_generated_columns = stored);
--:end
