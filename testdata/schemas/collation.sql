CREATE COLLATION posix (provider = libc, locale = 'POSIX');
CREATE COLLATION mixed (provider = libc, lc_collate = 'C', lc_ctype = 'POSIX');
CREATE COLLATION "German Phone" (provider = icu, locale = 'de-u-co-phonebk');
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
COMMENT ON COLLATION "German Phone" IS 'ä is ae';
CREATE SCHEMA other;
CREATE COLLATION other.posix FROM "C";
ALTER COLLATION other.posix OWNER TO pg_monitor;
CREATE TABLE words (a text COLLATE "German Phone", b text COLLATE other.posix, c text COLLATE pg_catalog."C");
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 160000 THEN
    EXECUTE 'CREATE COLLATION ruled (provider = icu, locale = ''und'', rules = ''&V << w <<< W'')';
  END IF;
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'CREATE COLLATION built (provider = builtin, locale = ''C.UTF-8'')';
  END IF;
END $$;
