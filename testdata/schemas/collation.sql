CREATE COLLATION posix (provider = libc, locale = 'POSIX');
CREATE COLLATION mixed (provider = libc, lc_collate = 'C', lc_ctype = 'POSIX');
CREATE COLLATION "German Phone" (provider = icu, locale = 'de-u-co-phonebk');
--:since 12
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
--:end
COMMENT ON COLLATION "German Phone" IS 'ä is ae';
CREATE SCHEMA other;
CREATE COLLATION other.posix FROM "C";
ALTER COLLATION other.posix OWNER TO pg_monitor;
CREATE TABLE words (a text COLLATE "German Phone", b text COLLATE other.posix, c text COLLATE pg_catalog."C");
--:since 16
CREATE COLLATION ruled (provider = icu, locale = 'und', rules = '&V << w <<< W');
--:end
--:since 17
CREATE COLLATION built (provider = builtin, locale = 'C.UTF-8');
--:end
