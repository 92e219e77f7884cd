CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'very sad' BEFORE 'sad';
ALTER TYPE mood ADD VALUE 'so-so' AFTER 'sad';
ALTER TYPE mood ADD VALUE 'it''s \ fine';
CREATE TYPE nothing AS ENUM ();
COMMENT ON TYPE mood IS 'how one''s day
goes \ on';
CREATE SCHEMA "Odd ""Schema""";
CREATE TYPE "Odd ""Schema"""."select" AS ENUM ('a', 'b');
ALTER TYPE "Odd ""Schema"""."select" OWNER TO pg_monitor;
REVOKE ALL ON TYPE mood FROM PUBLIC;
GRANT USAGE ON TYPE mood TO pg_read_all_stats WITH GRANT OPTION;
GRANT USAGE ON TYPE "Odd ""Schema"""."select" TO pg_read_all_settings;
CREATE TABLE days (day date, mood mood DEFAULT 'ok', moods mood[] DEFAULT '{ok,happy}');
