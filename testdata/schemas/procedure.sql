-- needs version 11
CREATE TABLE log (msg text);
CREATE PROCEDURE insert_log(msg text) LANGUAGE sql AS 'INSERT INTO log VALUES (msg)';
--:since 14
CREATE PROCEDURE atomic_log(VARIADIC msgs text[]) LANGUAGE sql BEGIN ATOMIC INSERT INTO log SELECT unnest(msgs); END;
--:end
--:since 14
CREATE PROCEDURE with_out(IN a integer, OUT c text, INOUT b integer DEFAULT 5) LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout TO '1s' AS $$ BEGIN b := a; END $$;
--:end
CREATE PROCEDURE "Odd Procedure"() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$;
COMMENT ON PROCEDURE insert_log(text) IS 'logs';
ALTER PROCEDURE "Odd Procedure"() OWNER TO pg_monitor;
REVOKE ALL ON PROCEDURE insert_log(text) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE insert_log(text) TO pg_monitor;
