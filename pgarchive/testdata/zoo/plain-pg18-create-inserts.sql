--
-- PostgreSQL database dump
--

\restrict zoo

-- Dumped from database version 18.6 (Debian 18.6-3)
-- Dumped by pg_dump version 18.6 (Debian 18.6-3)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

DROP DATABASE IF EXISTS zoo;
--
-- Name: zoo; Type: DATABASE; Schema: -; Owner: postgres
--

CREATE DATABASE zoo WITH TEMPLATE = template0 ENCODING = 'UTF8' LOCALE_PROVIDER = libc LOCALE = 'C';


ALTER DATABASE zoo OWNER TO postgres;

\unrestrict zoo
\connect zoo
\restrict zoo

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: DATABASE zoo; Type: COMMENT; Schema: -; Owner: postgres
--

COMMENT ON DATABASE zoo IS 'a zoo';


--
-- Name: app; Type: SCHEMA; Schema: -; Owner: zoo_owner
--

CREATE SCHEMA app;


ALTER SCHEMA app OWNER TO zoo_owner;

--
-- Name: SCHEMA app; Type: COMMENT; Schema: -; Owner: zoo_owner
--

COMMENT ON SCHEMA app IS 'an application';


--
-- Name: mood; Type: TYPE; Schema: app; Owner: zoo_owner
--

CREATE TYPE app.mood AS ENUM (
    'sad',
    'ok',
    'happy'
);


ALTER TYPE app.mood OWNER TO zoo_owner;

--
-- Name: positive; Type: DOMAIN; Schema: app; Owner: zoo_owner
--

CREATE DOMAIN app.positive AS integer
	CONSTRAINT positive_check CHECK ((VALUE > 0));


ALTER DOMAIN app.positive OWNER TO zoo_owner;

--
-- Name: add(integer, integer); Type: FUNCTION; Schema: app; Owner: zoo_owner
--

CREATE FUNCTION app.add(a integer, b integer DEFAULT 1) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$ select a + b; $$;


ALTER FUNCTION app.add(a integer, b integer) OWNER TO zoo_owner;

--
-- Name: touch(); Type: PROCEDURE; Schema: app; Owner: zoo_owner
--

CREATE PROCEDURE app.touch()
    LANGUAGE sql
    AS $$ select 1; select 2; $$;


ALTER PROCEDURE app.touch() OWNER TO zoo_owner;

--
-- Name: trig(); Type: FUNCTION; Schema: app; Owner: zoo_owner
--

CREATE FUNCTION app.trig() RETURNS trigger
    LANGUAGE plpgsql
    AS $$begin return new; end$$;


ALTER FUNCTION app.trig() OWNER TO zoo_owner;

--
-- Name: watch(); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.watch() RETURNS event_trigger
    LANGUAGE plpgsql
    AS $$begin end$$;


ALTER FUNCTION public.watch() OWNER TO postgres;

--
-- Name: total(integer); Type: AGGREGATE; Schema: app; Owner: zoo_owner
--

CREATE AGGREGATE app.total(integer) (
    SFUNC = int4pl,
    STYPE = integer,
    INITCOND = '0'
);


ALTER AGGREGATE app.total(integer) OWNER TO zoo_owner;

--
-- Name: @+@; Type: OPERATOR; Schema: app; Owner: zoo_owner
--

CREATE OPERATOR app.@+@ (
    FUNCTION = app.add,
    LEFTARG = integer,
    RIGHTARG = integer
);


ALTER OPERATOR app.@+@ (integer, integer) OWNER TO zoo_owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: item; Type: TABLE; Schema: app; Owner: zoo_owner
--

CREATE TABLE app.item (
    id bigint NOT NULL,
    name text NOT NULL,
    mood app.mood DEFAULT 'ok'::app.mood,
    price numeric(10,2),
    data bytea,
    CONSTRAINT price_check CHECK ((price >= (0)::numeric))
);


ALTER TABLE app.item OWNER TO zoo_owner;

--
-- Name: TABLE item; Type: COMMENT; Schema: app; Owner: zoo_owner
--

COMMENT ON TABLE app.item IS 'items
of the shop';


--
-- Name: cheap; Type: VIEW; Schema: app; Owner: zoo_owner
--

CREATE VIEW app.cheap AS
 SELECT id,
    name
   FROM app.item
  WHERE (price < (10)::numeric);


ALTER VIEW app.cheap OWNER TO zoo_owner;

--
-- Name: counter; Type: SEQUENCE; Schema: app; Owner: zoo_owner
--

CREATE SEQUENCE app.counter
    START WITH 10
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER SEQUENCE app.counter OWNER TO zoo_owner;

--
-- Name: empty; Type: TABLE; Schema: app; Owner: zoo_owner
--

CREATE TABLE app.empty (
);


ALTER TABLE app.empty OWNER TO zoo_owner;

--
-- Name: event; Type: TABLE; Schema: app; Owner: zoo_owner
--

CREATE TABLE app.event (
    at date NOT NULL,
    what text
)
PARTITION BY RANGE (at);


ALTER TABLE app.event OWNER TO zoo_owner;

SET default_tablespace = zoo_space;

--
-- Name: event_2023; Type: TABLE; Schema: app; Owner: zoo_owner; Tablespace: zoo_space
--

CREATE TABLE app.event_2023 (
    at date CONSTRAINT event_at_not_null NOT NULL,
    what text
);


ALTER TABLE app.event_2023 OWNER TO zoo_owner;

SET default_tablespace = '';

--
-- Name: event_2024; Type: TABLE; Schema: app; Owner: zoo_owner
--

CREATE TABLE app.event_2024 (
    at date CONSTRAINT event_at_not_null NOT NULL,
    what text
);


ALTER TABLE app.event_2024 OWNER TO zoo_owner;

--
-- Name: item_id_seq; Type: SEQUENCE; Schema: app; Owner: zoo_owner
--

ALTER TABLE app.item ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME app.item_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: moods; Type: MATERIALIZED VIEW; Schema: app; Owner: zoo_owner
--

CREATE MATERIALIZED VIEW app.moods AS
 SELECT mood,
    count(*) AS n
   FROM app.item
  GROUP BY mood
  WITH NO DATA;


ALTER MATERIALIZED VIEW app.moods OWNER TO zoo_owner;

--
-- Name: odd "name" (x); Type: TABLE; Schema: app; Owner: zoo_owner
--

CREATE TABLE app."odd ""name"" (x)" (
    a integer DEFAULT 1,
    b integer
);


ALTER TABLE app."odd ""name"" (x)" OWNER TO zoo_owner;

--
-- Name: event_2023; Type: TABLE ATTACH; Schema: app; Owner: zoo_owner
--

ALTER TABLE ONLY app.event ATTACH PARTITION app.event_2023 FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');


--
-- Name: event_2024; Type: TABLE ATTACH; Schema: app; Owner: zoo_owner
--

ALTER TABLE ONLY app.event ATTACH PARTITION app.event_2024 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');


--
-- Data for Name: empty; Type: TABLE DATA; Schema: app; Owner: zoo_owner
--



--
-- Data for Name: event_2023; Type: TABLE DATA; Schema: app; Owner: zoo_owner
--

INSERT INTO app.event_2023 VALUES ('2023-06-02', 'event 1');
INSERT INTO app.event_2023 VALUES ('2023-06-03', 'event 2');
INSERT INTO app.event_2023 VALUES ('2023-06-04', 'event 3');
INSERT INTO app.event_2023 VALUES ('2023-06-05', 'event 4');
INSERT INTO app.event_2023 VALUES ('2023-06-06', 'event 5');
INSERT INTO app.event_2023 VALUES ('2023-06-07', 'event 6');
INSERT INTO app.event_2023 VALUES ('2023-06-08', 'event 7');
INSERT INTO app.event_2023 VALUES ('2023-06-09', 'event 8');
INSERT INTO app.event_2023 VALUES ('2023-06-10', 'event 9');
INSERT INTO app.event_2023 VALUES ('2023-06-11', 'event 10');
INSERT INTO app.event_2023 VALUES ('2023-06-12', 'event 11');
INSERT INTO app.event_2023 VALUES ('2023-06-13', 'event 12');
INSERT INTO app.event_2023 VALUES ('2023-06-14', 'event 13');
INSERT INTO app.event_2023 VALUES ('2023-06-15', 'event 14');
INSERT INTO app.event_2023 VALUES ('2023-06-16', 'event 15');
INSERT INTO app.event_2023 VALUES ('2023-06-17', 'event 16');
INSERT INTO app.event_2023 VALUES ('2023-06-18', 'event 17');
INSERT INTO app.event_2023 VALUES ('2023-06-19', 'event 18');
INSERT INTO app.event_2023 VALUES ('2023-06-20', 'event 19');
INSERT INTO app.event_2023 VALUES ('2023-06-21', 'event 20');
INSERT INTO app.event_2023 VALUES ('2023-06-22', 'event 21');
INSERT INTO app.event_2023 VALUES ('2023-06-23', 'event 22');
INSERT INTO app.event_2023 VALUES ('2023-06-24', 'event 23');
INSERT INTO app.event_2023 VALUES ('2023-06-25', 'event 24');
INSERT INTO app.event_2023 VALUES ('2023-06-26', 'event 25');
INSERT INTO app.event_2023 VALUES ('2023-06-27', 'event 26');
INSERT INTO app.event_2023 VALUES ('2023-06-28', 'event 27');
INSERT INTO app.event_2023 VALUES ('2023-06-29', 'event 28');
INSERT INTO app.event_2023 VALUES ('2023-06-30', 'event 29');
INSERT INTO app.event_2023 VALUES ('2023-07-01', 'event 30');
INSERT INTO app.event_2023 VALUES ('2023-07-02', 'event 31');
INSERT INTO app.event_2023 VALUES ('2023-07-03', 'event 32');
INSERT INTO app.event_2023 VALUES ('2023-07-04', 'event 33');
INSERT INTO app.event_2023 VALUES ('2023-07-05', 'event 34');
INSERT INTO app.event_2023 VALUES ('2023-07-06', 'event 35');
INSERT INTO app.event_2023 VALUES ('2023-07-07', 'event 36');
INSERT INTO app.event_2023 VALUES ('2023-07-08', 'event 37');
INSERT INTO app.event_2023 VALUES ('2023-07-09', 'event 38');
INSERT INTO app.event_2023 VALUES ('2023-07-10', 'event 39');
INSERT INTO app.event_2023 VALUES ('2023-07-11', 'event 40');
INSERT INTO app.event_2023 VALUES ('2023-07-12', 'event 41');
INSERT INTO app.event_2023 VALUES ('2023-07-13', 'event 42');
INSERT INTO app.event_2023 VALUES ('2023-07-14', 'event 43');
INSERT INTO app.event_2023 VALUES ('2023-07-15', 'event 44');
INSERT INTO app.event_2023 VALUES ('2023-07-16', 'event 45');
INSERT INTO app.event_2023 VALUES ('2023-07-17', 'event 46');
INSERT INTO app.event_2023 VALUES ('2023-07-18', 'event 47');
INSERT INTO app.event_2023 VALUES ('2023-07-19', 'event 48');
INSERT INTO app.event_2023 VALUES ('2023-07-20', 'event 49');
INSERT INTO app.event_2023 VALUES ('2023-07-21', 'event 50');
INSERT INTO app.event_2023 VALUES ('2023-07-22', 'event 51');
INSERT INTO app.event_2023 VALUES ('2023-07-23', 'event 52');
INSERT INTO app.event_2023 VALUES ('2023-07-24', 'event 53');
INSERT INTO app.event_2023 VALUES ('2023-07-25', 'event 54');
INSERT INTO app.event_2023 VALUES ('2023-07-26', 'event 55');
INSERT INTO app.event_2023 VALUES ('2023-07-27', 'event 56');
INSERT INTO app.event_2023 VALUES ('2023-07-28', 'event 57');
INSERT INTO app.event_2023 VALUES ('2023-07-29', 'event 58');
INSERT INTO app.event_2023 VALUES ('2023-07-30', 'event 59');
INSERT INTO app.event_2023 VALUES ('2023-07-31', 'event 60');
INSERT INTO app.event_2023 VALUES ('2023-08-01', 'event 61');
INSERT INTO app.event_2023 VALUES ('2023-08-02', 'event 62');
INSERT INTO app.event_2023 VALUES ('2023-08-03', 'event 63');
INSERT INTO app.event_2023 VALUES ('2023-08-04', 'event 64');
INSERT INTO app.event_2023 VALUES ('2023-08-05', 'event 65');
INSERT INTO app.event_2023 VALUES ('2023-08-06', 'event 66');
INSERT INTO app.event_2023 VALUES ('2023-08-07', 'event 67');
INSERT INTO app.event_2023 VALUES ('2023-08-08', 'event 68');
INSERT INTO app.event_2023 VALUES ('2023-08-09', 'event 69');
INSERT INTO app.event_2023 VALUES ('2023-08-10', 'event 70');
INSERT INTO app.event_2023 VALUES ('2023-08-11', 'event 71');
INSERT INTO app.event_2023 VALUES ('2023-08-12', 'event 72');
INSERT INTO app.event_2023 VALUES ('2023-08-13', 'event 73');
INSERT INTO app.event_2023 VALUES ('2023-08-14', 'event 74');
INSERT INTO app.event_2023 VALUES ('2023-08-15', 'event 75');
INSERT INTO app.event_2023 VALUES ('2023-08-16', 'event 76');
INSERT INTO app.event_2023 VALUES ('2023-08-17', 'event 77');
INSERT INTO app.event_2023 VALUES ('2023-08-18', 'event 78');
INSERT INTO app.event_2023 VALUES ('2023-08-19', 'event 79');
INSERT INTO app.event_2023 VALUES ('2023-08-20', 'event 80');
INSERT INTO app.event_2023 VALUES ('2023-08-21', 'event 81');
INSERT INTO app.event_2023 VALUES ('2023-08-22', 'event 82');
INSERT INTO app.event_2023 VALUES ('2023-08-23', 'event 83');
INSERT INTO app.event_2023 VALUES ('2023-08-24', 'event 84');
INSERT INTO app.event_2023 VALUES ('2023-08-25', 'event 85');
INSERT INTO app.event_2023 VALUES ('2023-08-26', 'event 86');
INSERT INTO app.event_2023 VALUES ('2023-08-27', 'event 87');
INSERT INTO app.event_2023 VALUES ('2023-08-28', 'event 88');
INSERT INTO app.event_2023 VALUES ('2023-08-29', 'event 89');
INSERT INTO app.event_2023 VALUES ('2023-08-30', 'event 90');
INSERT INTO app.event_2023 VALUES ('2023-08-31', 'event 91');
INSERT INTO app.event_2023 VALUES ('2023-09-01', 'event 92');
INSERT INTO app.event_2023 VALUES ('2023-09-02', 'event 93');
INSERT INTO app.event_2023 VALUES ('2023-09-03', 'event 94');
INSERT INTO app.event_2023 VALUES ('2023-09-04', 'event 95');
INSERT INTO app.event_2023 VALUES ('2023-09-05', 'event 96');
INSERT INTO app.event_2023 VALUES ('2023-09-06', 'event 97');
INSERT INTO app.event_2023 VALUES ('2023-09-07', 'event 98');
INSERT INTO app.event_2023 VALUES ('2023-09-08', 'event 99');
INSERT INTO app.event_2023 VALUES ('2023-09-09', 'event 100');
INSERT INTO app.event_2023 VALUES ('2023-09-10', 'event 101');
INSERT INTO app.event_2023 VALUES ('2023-09-11', 'event 102');
INSERT INTO app.event_2023 VALUES ('2023-09-12', 'event 103');
INSERT INTO app.event_2023 VALUES ('2023-09-13', 'event 104');
INSERT INTO app.event_2023 VALUES ('2023-09-14', 'event 105');
INSERT INTO app.event_2023 VALUES ('2023-09-15', 'event 106');
INSERT INTO app.event_2023 VALUES ('2023-09-16', 'event 107');
INSERT INTO app.event_2023 VALUES ('2023-09-17', 'event 108');
INSERT INTO app.event_2023 VALUES ('2023-09-18', 'event 109');
INSERT INTO app.event_2023 VALUES ('2023-09-19', 'event 110');
INSERT INTO app.event_2023 VALUES ('2023-09-20', 'event 111');
INSERT INTO app.event_2023 VALUES ('2023-09-21', 'event 112');
INSERT INTO app.event_2023 VALUES ('2023-09-22', 'event 113');
INSERT INTO app.event_2023 VALUES ('2023-09-23', 'event 114');
INSERT INTO app.event_2023 VALUES ('2023-09-24', 'event 115');
INSERT INTO app.event_2023 VALUES ('2023-09-25', 'event 116');
INSERT INTO app.event_2023 VALUES ('2023-09-26', 'event 117');
INSERT INTO app.event_2023 VALUES ('2023-09-27', 'event 118');
INSERT INTO app.event_2023 VALUES ('2023-09-28', 'event 119');
INSERT INTO app.event_2023 VALUES ('2023-09-29', 'event 120');
INSERT INTO app.event_2023 VALUES ('2023-09-30', 'event 121');
INSERT INTO app.event_2023 VALUES ('2023-10-01', 'event 122');
INSERT INTO app.event_2023 VALUES ('2023-10-02', 'event 123');
INSERT INTO app.event_2023 VALUES ('2023-10-03', 'event 124');
INSERT INTO app.event_2023 VALUES ('2023-10-04', 'event 125');
INSERT INTO app.event_2023 VALUES ('2023-10-05', 'event 126');
INSERT INTO app.event_2023 VALUES ('2023-10-06', 'event 127');
INSERT INTO app.event_2023 VALUES ('2023-10-07', 'event 128');
INSERT INTO app.event_2023 VALUES ('2023-10-08', 'event 129');
INSERT INTO app.event_2023 VALUES ('2023-10-09', 'event 130');
INSERT INTO app.event_2023 VALUES ('2023-10-10', 'event 131');
INSERT INTO app.event_2023 VALUES ('2023-10-11', 'event 132');
INSERT INTO app.event_2023 VALUES ('2023-10-12', 'event 133');
INSERT INTO app.event_2023 VALUES ('2023-10-13', 'event 134');
INSERT INTO app.event_2023 VALUES ('2023-10-14', 'event 135');
INSERT INTO app.event_2023 VALUES ('2023-10-15', 'event 136');
INSERT INTO app.event_2023 VALUES ('2023-10-16', 'event 137');
INSERT INTO app.event_2023 VALUES ('2023-10-17', 'event 138');
INSERT INTO app.event_2023 VALUES ('2023-10-18', 'event 139');
INSERT INTO app.event_2023 VALUES ('2023-10-19', 'event 140');
INSERT INTO app.event_2023 VALUES ('2023-10-20', 'event 141');
INSERT INTO app.event_2023 VALUES ('2023-10-21', 'event 142');
INSERT INTO app.event_2023 VALUES ('2023-10-22', 'event 143');
INSERT INTO app.event_2023 VALUES ('2023-10-23', 'event 144');
INSERT INTO app.event_2023 VALUES ('2023-10-24', 'event 145');
INSERT INTO app.event_2023 VALUES ('2023-10-25', 'event 146');
INSERT INTO app.event_2023 VALUES ('2023-10-26', 'event 147');
INSERT INTO app.event_2023 VALUES ('2023-10-27', 'event 148');
INSERT INTO app.event_2023 VALUES ('2023-10-28', 'event 149');
INSERT INTO app.event_2023 VALUES ('2023-10-29', 'event 150');
INSERT INTO app.event_2023 VALUES ('2023-10-30', 'event 151');
INSERT INTO app.event_2023 VALUES ('2023-10-31', 'event 152');
INSERT INTO app.event_2023 VALUES ('2023-11-01', 'event 153');
INSERT INTO app.event_2023 VALUES ('2023-11-02', 'event 154');
INSERT INTO app.event_2023 VALUES ('2023-11-03', 'event 155');
INSERT INTO app.event_2023 VALUES ('2023-11-04', 'event 156');
INSERT INTO app.event_2023 VALUES ('2023-11-05', 'event 157');
INSERT INTO app.event_2023 VALUES ('2023-11-06', 'event 158');
INSERT INTO app.event_2023 VALUES ('2023-11-07', 'event 159');
INSERT INTO app.event_2023 VALUES ('2023-11-08', 'event 160');
INSERT INTO app.event_2023 VALUES ('2023-11-09', 'event 161');
INSERT INTO app.event_2023 VALUES ('2023-11-10', 'event 162');
INSERT INTO app.event_2023 VALUES ('2023-11-11', 'event 163');
INSERT INTO app.event_2023 VALUES ('2023-11-12', 'event 164');
INSERT INTO app.event_2023 VALUES ('2023-11-13', 'event 165');
INSERT INTO app.event_2023 VALUES ('2023-11-14', 'event 166');
INSERT INTO app.event_2023 VALUES ('2023-11-15', 'event 167');
INSERT INTO app.event_2023 VALUES ('2023-11-16', 'event 168');
INSERT INTO app.event_2023 VALUES ('2023-11-17', 'event 169');
INSERT INTO app.event_2023 VALUES ('2023-11-18', 'event 170');
INSERT INTO app.event_2023 VALUES ('2023-11-19', 'event 171');
INSERT INTO app.event_2023 VALUES ('2023-11-20', 'event 172');
INSERT INTO app.event_2023 VALUES ('2023-11-21', 'event 173');
INSERT INTO app.event_2023 VALUES ('2023-11-22', 'event 174');
INSERT INTO app.event_2023 VALUES ('2023-11-23', 'event 175');
INSERT INTO app.event_2023 VALUES ('2023-11-24', 'event 176');
INSERT INTO app.event_2023 VALUES ('2023-11-25', 'event 177');
INSERT INTO app.event_2023 VALUES ('2023-11-26', 'event 178');
INSERT INTO app.event_2023 VALUES ('2023-11-27', 'event 179');
INSERT INTO app.event_2023 VALUES ('2023-11-28', 'event 180');
INSERT INTO app.event_2023 VALUES ('2023-11-29', 'event 181');
INSERT INTO app.event_2023 VALUES ('2023-11-30', 'event 182');
INSERT INTO app.event_2023 VALUES ('2023-12-01', 'event 183');
INSERT INTO app.event_2023 VALUES ('2023-12-02', 'event 184');
INSERT INTO app.event_2023 VALUES ('2023-12-03', 'event 185');
INSERT INTO app.event_2023 VALUES ('2023-12-04', 'event 186');
INSERT INTO app.event_2023 VALUES ('2023-12-05', 'event 187');
INSERT INTO app.event_2023 VALUES ('2023-12-06', 'event 188');
INSERT INTO app.event_2023 VALUES ('2023-12-07', 'event 189');
INSERT INTO app.event_2023 VALUES ('2023-12-08', 'event 190');
INSERT INTO app.event_2023 VALUES ('2023-12-09', 'event 191');
INSERT INTO app.event_2023 VALUES ('2023-12-10', 'event 192');
INSERT INTO app.event_2023 VALUES ('2023-12-11', 'event 193');
INSERT INTO app.event_2023 VALUES ('2023-12-12', 'event 194');
INSERT INTO app.event_2023 VALUES ('2023-12-13', 'event 195');
INSERT INTO app.event_2023 VALUES ('2023-12-14', 'event 196');
INSERT INTO app.event_2023 VALUES ('2023-12-15', 'event 197');
INSERT INTO app.event_2023 VALUES ('2023-12-16', 'event 198');
INSERT INTO app.event_2023 VALUES ('2023-12-17', 'event 199');
INSERT INTO app.event_2023 VALUES ('2023-12-18', 'event 200');
INSERT INTO app.event_2023 VALUES ('2023-12-19', 'event 201');
INSERT INTO app.event_2023 VALUES ('2023-12-20', 'event 202');
INSERT INTO app.event_2023 VALUES ('2023-12-21', 'event 203');
INSERT INTO app.event_2023 VALUES ('2023-12-22', 'event 204');
INSERT INTO app.event_2023 VALUES ('2023-12-23', 'event 205');
INSERT INTO app.event_2023 VALUES ('2023-12-24', 'event 206');
INSERT INTO app.event_2023 VALUES ('2023-12-25', 'event 207');
INSERT INTO app.event_2023 VALUES ('2023-12-26', 'event 208');
INSERT INTO app.event_2023 VALUES ('2023-12-27', 'event 209');
INSERT INTO app.event_2023 VALUES ('2023-12-28', 'event 210');
INSERT INTO app.event_2023 VALUES ('2023-12-29', 'event 211');
INSERT INTO app.event_2023 VALUES ('2023-12-30', 'event 212');
INSERT INTO app.event_2023 VALUES ('2023-12-31', 'event 213');


--
-- Data for Name: event_2024; Type: TABLE DATA; Schema: app; Owner: zoo_owner
--

INSERT INTO app.event_2024 VALUES ('2024-01-01', 'event 214');
INSERT INTO app.event_2024 VALUES ('2024-01-02', 'event 215');
INSERT INTO app.event_2024 VALUES ('2024-01-03', 'event 216');
INSERT INTO app.event_2024 VALUES ('2024-01-04', 'event 217');
INSERT INTO app.event_2024 VALUES ('2024-01-05', 'event 218');
INSERT INTO app.event_2024 VALUES ('2024-01-06', 'event 219');
INSERT INTO app.event_2024 VALUES ('2024-01-07', 'event 220');
INSERT INTO app.event_2024 VALUES ('2024-01-08', 'event 221');
INSERT INTO app.event_2024 VALUES ('2024-01-09', 'event 222');
INSERT INTO app.event_2024 VALUES ('2024-01-10', 'event 223');
INSERT INTO app.event_2024 VALUES ('2024-01-11', 'event 224');
INSERT INTO app.event_2024 VALUES ('2024-01-12', 'event 225');
INSERT INTO app.event_2024 VALUES ('2024-01-13', 'event 226');
INSERT INTO app.event_2024 VALUES ('2024-01-14', 'event 227');
INSERT INTO app.event_2024 VALUES ('2024-01-15', 'event 228');
INSERT INTO app.event_2024 VALUES ('2024-01-16', 'event 229');
INSERT INTO app.event_2024 VALUES ('2024-01-17', 'event 230');
INSERT INTO app.event_2024 VALUES ('2024-01-18', 'event 231');
INSERT INTO app.event_2024 VALUES ('2024-01-19', 'event 232');
INSERT INTO app.event_2024 VALUES ('2024-01-20', 'event 233');
INSERT INTO app.event_2024 VALUES ('2024-01-21', 'event 234');
INSERT INTO app.event_2024 VALUES ('2024-01-22', 'event 235');
INSERT INTO app.event_2024 VALUES ('2024-01-23', 'event 236');
INSERT INTO app.event_2024 VALUES ('2024-01-24', 'event 237');
INSERT INTO app.event_2024 VALUES ('2024-01-25', 'event 238');
INSERT INTO app.event_2024 VALUES ('2024-01-26', 'event 239');
INSERT INTO app.event_2024 VALUES ('2024-01-27', 'event 240');
INSERT INTO app.event_2024 VALUES ('2024-01-28', 'event 241');
INSERT INTO app.event_2024 VALUES ('2024-01-29', 'event 242');
INSERT INTO app.event_2024 VALUES ('2024-01-30', 'event 243');
INSERT INTO app.event_2024 VALUES ('2024-01-31', 'event 244');
INSERT INTO app.event_2024 VALUES ('2024-02-01', 'event 245');
INSERT INTO app.event_2024 VALUES ('2024-02-02', 'event 246');
INSERT INTO app.event_2024 VALUES ('2024-02-03', 'event 247');
INSERT INTO app.event_2024 VALUES ('2024-02-04', 'event 248');
INSERT INTO app.event_2024 VALUES ('2024-02-05', 'event 249');
INSERT INTO app.event_2024 VALUES ('2024-02-06', 'event 250');
INSERT INTO app.event_2024 VALUES ('2024-02-07', 'event 251');
INSERT INTO app.event_2024 VALUES ('2024-02-08', 'event 252');
INSERT INTO app.event_2024 VALUES ('2024-02-09', 'event 253');
INSERT INTO app.event_2024 VALUES ('2024-02-10', 'event 254');
INSERT INTO app.event_2024 VALUES ('2024-02-11', 'event 255');
INSERT INTO app.event_2024 VALUES ('2024-02-12', 'event 256');
INSERT INTO app.event_2024 VALUES ('2024-02-13', 'event 257');
INSERT INTO app.event_2024 VALUES ('2024-02-14', 'event 258');
INSERT INTO app.event_2024 VALUES ('2024-02-15', 'event 259');
INSERT INTO app.event_2024 VALUES ('2024-02-16', 'event 260');
INSERT INTO app.event_2024 VALUES ('2024-02-17', 'event 261');
INSERT INTO app.event_2024 VALUES ('2024-02-18', 'event 262');
INSERT INTO app.event_2024 VALUES ('2024-02-19', 'event 263');
INSERT INTO app.event_2024 VALUES ('2024-02-20', 'event 264');
INSERT INTO app.event_2024 VALUES ('2024-02-21', 'event 265');
INSERT INTO app.event_2024 VALUES ('2024-02-22', 'event 266');
INSERT INTO app.event_2024 VALUES ('2024-02-23', 'event 267');
INSERT INTO app.event_2024 VALUES ('2024-02-24', 'event 268');
INSERT INTO app.event_2024 VALUES ('2024-02-25', 'event 269');
INSERT INTO app.event_2024 VALUES ('2024-02-26', 'event 270');
INSERT INTO app.event_2024 VALUES ('2024-02-27', 'event 271');
INSERT INTO app.event_2024 VALUES ('2024-02-28', 'event 272');
INSERT INTO app.event_2024 VALUES ('2024-02-29', 'event 273');
INSERT INTO app.event_2024 VALUES ('2024-03-01', 'event 274');
INSERT INTO app.event_2024 VALUES ('2024-03-02', 'event 275');
INSERT INTO app.event_2024 VALUES ('2024-03-03', 'event 276');
INSERT INTO app.event_2024 VALUES ('2024-03-04', 'event 277');
INSERT INTO app.event_2024 VALUES ('2024-03-05', 'event 278');
INSERT INTO app.event_2024 VALUES ('2024-03-06', 'event 279');
INSERT INTO app.event_2024 VALUES ('2024-03-07', 'event 280');
INSERT INTO app.event_2024 VALUES ('2024-03-08', 'event 281');
INSERT INTO app.event_2024 VALUES ('2024-03-09', 'event 282');
INSERT INTO app.event_2024 VALUES ('2024-03-10', 'event 283');
INSERT INTO app.event_2024 VALUES ('2024-03-11', 'event 284');
INSERT INTO app.event_2024 VALUES ('2024-03-12', 'event 285');
INSERT INTO app.event_2024 VALUES ('2024-03-13', 'event 286');
INSERT INTO app.event_2024 VALUES ('2024-03-14', 'event 287');
INSERT INTO app.event_2024 VALUES ('2024-03-15', 'event 288');
INSERT INTO app.event_2024 VALUES ('2024-03-16', 'event 289');
INSERT INTO app.event_2024 VALUES ('2024-03-17', 'event 290');
INSERT INTO app.event_2024 VALUES ('2024-03-18', 'event 291');
INSERT INTO app.event_2024 VALUES ('2024-03-19', 'event 292');
INSERT INTO app.event_2024 VALUES ('2024-03-20', 'event 293');
INSERT INTO app.event_2024 VALUES ('2024-03-21', 'event 294');
INSERT INTO app.event_2024 VALUES ('2024-03-22', 'event 295');
INSERT INTO app.event_2024 VALUES ('2024-03-23', 'event 296');
INSERT INTO app.event_2024 VALUES ('2024-03-24', 'event 297');
INSERT INTO app.event_2024 VALUES ('2024-03-25', 'event 298');
INSERT INTO app.event_2024 VALUES ('2024-03-26', 'event 299');
INSERT INTO app.event_2024 VALUES ('2024-03-27', 'event 300');
INSERT INTO app.event_2024 VALUES ('2024-03-28', 'event 301');
INSERT INTO app.event_2024 VALUES ('2024-03-29', 'event 302');
INSERT INTO app.event_2024 VALUES ('2024-03-30', 'event 303');
INSERT INTO app.event_2024 VALUES ('2024-03-31', 'event 304');
INSERT INTO app.event_2024 VALUES ('2024-04-01', 'event 305');
INSERT INTO app.event_2024 VALUES ('2024-04-02', 'event 306');
INSERT INTO app.event_2024 VALUES ('2024-04-03', 'event 307');
INSERT INTO app.event_2024 VALUES ('2024-04-04', 'event 308');
INSERT INTO app.event_2024 VALUES ('2024-04-05', 'event 309');
INSERT INTO app.event_2024 VALUES ('2024-04-06', 'event 310');
INSERT INTO app.event_2024 VALUES ('2024-04-07', 'event 311');
INSERT INTO app.event_2024 VALUES ('2024-04-08', 'event 312');
INSERT INTO app.event_2024 VALUES ('2024-04-09', 'event 313');
INSERT INTO app.event_2024 VALUES ('2024-04-10', 'event 314');
INSERT INTO app.event_2024 VALUES ('2024-04-11', 'event 315');
INSERT INTO app.event_2024 VALUES ('2024-04-12', 'event 316');
INSERT INTO app.event_2024 VALUES ('2024-04-13', 'event 317');
INSERT INTO app.event_2024 VALUES ('2024-04-14', 'event 318');
INSERT INTO app.event_2024 VALUES ('2024-04-15', 'event 319');
INSERT INTO app.event_2024 VALUES ('2024-04-16', 'event 320');
INSERT INTO app.event_2024 VALUES ('2024-04-17', 'event 321');
INSERT INTO app.event_2024 VALUES ('2024-04-18', 'event 322');
INSERT INTO app.event_2024 VALUES ('2024-04-19', 'event 323');
INSERT INTO app.event_2024 VALUES ('2024-04-20', 'event 324');
INSERT INTO app.event_2024 VALUES ('2024-04-21', 'event 325');
INSERT INTO app.event_2024 VALUES ('2024-04-22', 'event 326');
INSERT INTO app.event_2024 VALUES ('2024-04-23', 'event 327');
INSERT INTO app.event_2024 VALUES ('2024-04-24', 'event 328');
INSERT INTO app.event_2024 VALUES ('2024-04-25', 'event 329');
INSERT INTO app.event_2024 VALUES ('2024-04-26', 'event 330');
INSERT INTO app.event_2024 VALUES ('2024-04-27', 'event 331');
INSERT INTO app.event_2024 VALUES ('2024-04-28', 'event 332');
INSERT INTO app.event_2024 VALUES ('2024-04-29', 'event 333');
INSERT INTO app.event_2024 VALUES ('2024-04-30', 'event 334');
INSERT INTO app.event_2024 VALUES ('2024-05-01', 'event 335');
INSERT INTO app.event_2024 VALUES ('2024-05-02', 'event 336');
INSERT INTO app.event_2024 VALUES ('2024-05-03', 'event 337');
INSERT INTO app.event_2024 VALUES ('2024-05-04', 'event 338');
INSERT INTO app.event_2024 VALUES ('2024-05-05', 'event 339');
INSERT INTO app.event_2024 VALUES ('2024-05-06', 'event 340');
INSERT INTO app.event_2024 VALUES ('2024-05-07', 'event 341');
INSERT INTO app.event_2024 VALUES ('2024-05-08', 'event 342');
INSERT INTO app.event_2024 VALUES ('2024-05-09', 'event 343');
INSERT INTO app.event_2024 VALUES ('2024-05-10', 'event 344');
INSERT INTO app.event_2024 VALUES ('2024-05-11', 'event 345');
INSERT INTO app.event_2024 VALUES ('2024-05-12', 'event 346');
INSERT INTO app.event_2024 VALUES ('2024-05-13', 'event 347');
INSERT INTO app.event_2024 VALUES ('2024-05-14', 'event 348');
INSERT INTO app.event_2024 VALUES ('2024-05-15', 'event 349');
INSERT INTO app.event_2024 VALUES ('2024-05-16', 'event 350');
INSERT INTO app.event_2024 VALUES ('2024-05-17', 'event 351');
INSERT INTO app.event_2024 VALUES ('2024-05-18', 'event 352');
INSERT INTO app.event_2024 VALUES ('2024-05-19', 'event 353');
INSERT INTO app.event_2024 VALUES ('2024-05-20', 'event 354');
INSERT INTO app.event_2024 VALUES ('2024-05-21', 'event 355');
INSERT INTO app.event_2024 VALUES ('2024-05-22', 'event 356');
INSERT INTO app.event_2024 VALUES ('2024-05-23', 'event 357');
INSERT INTO app.event_2024 VALUES ('2024-05-24', 'event 358');
INSERT INTO app.event_2024 VALUES ('2024-05-25', 'event 359');
INSERT INTO app.event_2024 VALUES ('2024-05-26', 'event 360');
INSERT INTO app.event_2024 VALUES ('2024-05-27', 'event 361');
INSERT INTO app.event_2024 VALUES ('2024-05-28', 'event 362');
INSERT INTO app.event_2024 VALUES ('2024-05-29', 'event 363');
INSERT INTO app.event_2024 VALUES ('2024-05-30', 'event 364');
INSERT INTO app.event_2024 VALUES ('2024-05-31', 'event 365');
INSERT INTO app.event_2024 VALUES ('2024-06-01', 'event 366');
INSERT INTO app.event_2024 VALUES ('2024-06-02', 'event 367');
INSERT INTO app.event_2024 VALUES ('2024-06-03', 'event 368');
INSERT INTO app.event_2024 VALUES ('2024-06-04', 'event 369');
INSERT INTO app.event_2024 VALUES ('2024-06-05', 'event 370');
INSERT INTO app.event_2024 VALUES ('2024-06-06', 'event 371');
INSERT INTO app.event_2024 VALUES ('2024-06-07', 'event 372');
INSERT INTO app.event_2024 VALUES ('2024-06-08', 'event 373');
INSERT INTO app.event_2024 VALUES ('2024-06-09', 'event 374');
INSERT INTO app.event_2024 VALUES ('2024-06-10', 'event 375');
INSERT INTO app.event_2024 VALUES ('2024-06-11', 'event 376');
INSERT INTO app.event_2024 VALUES ('2024-06-12', 'event 377');
INSERT INTO app.event_2024 VALUES ('2024-06-13', 'event 378');
INSERT INTO app.event_2024 VALUES ('2024-06-14', 'event 379');
INSERT INTO app.event_2024 VALUES ('2024-06-15', 'event 380');
INSERT INTO app.event_2024 VALUES ('2024-06-16', 'event 381');
INSERT INTO app.event_2024 VALUES ('2024-06-17', 'event 382');
INSERT INTO app.event_2024 VALUES ('2024-06-18', 'event 383');
INSERT INTO app.event_2024 VALUES ('2024-06-19', 'event 384');
INSERT INTO app.event_2024 VALUES ('2024-06-20', 'event 385');
INSERT INTO app.event_2024 VALUES ('2024-06-21', 'event 386');
INSERT INTO app.event_2024 VALUES ('2024-06-22', 'event 387');
INSERT INTO app.event_2024 VALUES ('2024-06-23', 'event 388');
INSERT INTO app.event_2024 VALUES ('2024-06-24', 'event 389');
INSERT INTO app.event_2024 VALUES ('2024-06-25', 'event 390');
INSERT INTO app.event_2024 VALUES ('2024-06-26', 'event 391');
INSERT INTO app.event_2024 VALUES ('2024-06-27', 'event 392');
INSERT INTO app.event_2024 VALUES ('2024-06-28', 'event 393');
INSERT INTO app.event_2024 VALUES ('2024-06-29', 'event 394');
INSERT INTO app.event_2024 VALUES ('2024-06-30', 'event 395');
INSERT INTO app.event_2024 VALUES ('2024-07-01', 'event 396');
INSERT INTO app.event_2024 VALUES ('2024-07-02', 'event 397');
INSERT INTO app.event_2024 VALUES ('2024-07-03', 'event 398');
INSERT INTO app.event_2024 VALUES ('2024-07-04', 'event 399');
INSERT INTO app.event_2024 VALUES ('2024-07-05', 'event 400');


--
-- Data for Name: item; Type: TABLE DATA; Schema: app; Owner: zoo_owner
--

INSERT INTO app.item VALUES (1, 'item 1', 'ok', 1.25, '\xc4ca4238a0b923820dcc509a6f75849b');
INSERT INTO app.item VALUES (2, 'item 2', 'happy', 2.50, '\xc81e728d9d4c2f636f067f89cc14862c');
INSERT INTO app.item VALUES (3, 'item 3', 'sad', 3.75, '\xeccbc87e4b5ce2fe28308fd9f2a7baf3');
INSERT INTO app.item VALUES (4, 'item 4', 'ok', 5.00, '\xa87ff679a2f3e71d9181a67b7542122c');
INSERT INTO app.item VALUES (5, 'item 5', 'happy', 6.25, '\xe4da3b7fbbce2345d7772b0674a318d5');
INSERT INTO app.item VALUES (6, 'item 6', 'sad', 7.50, '\x1679091c5a880faf6fb5e6087eb1b2dc');
INSERT INTO app.item VALUES (7, 'item 7	with tab
and \ more', 'ok', 8.75, '\x8f14e45fceea167a5a36dedd4bea2543');
INSERT INTO app.item VALUES (8, 'item 8', 'happy', 10.00, '\xc9f0f895fb98ab9159f51fd0297e236d');
INSERT INTO app.item VALUES (9, 'item 9', 'sad', 11.25, '\x45c48cce2e2d7fbdea1afc51c7c6ad26');
INSERT INTO app.item VALUES (10, 'item 10', 'ok', 12.50, '\xd3d9446802a44259755d38e6d163e820');
INSERT INTO app.item VALUES (11, 'item 11', 'happy', 13.75, '\x6512bd43d9caa6e02c990b0a82652dca');
INSERT INTO app.item VALUES (12, 'item 12', 'sad', 15.00, '\xc20ad4d76fe97759aa27a0c99bff6710');
INSERT INTO app.item VALUES (13, 'item 13', 'ok', 16.25, '\xc51ce410c124a10e0db5e4b97fc2af39');
INSERT INTO app.item VALUES (14, 'item 14	with tab
and \ more', 'happy', 17.50, '\xaab3238922bcc25a6f606eb525ffdc56');
INSERT INTO app.item VALUES (15, 'item 15', 'sad', 18.75, '\x9bf31c7ff062936a96d3c8bd1f8f2ff3');
INSERT INTO app.item VALUES (16, 'item 16', 'ok', 20.00, '\xc74d97b01eae257e44aa9d5bade97baf');
INSERT INTO app.item VALUES (17, 'item 17', 'happy', 21.25, '\x70efdf2ec9b086079795c442636b55fb');
INSERT INTO app.item VALUES (18, 'item 18', 'sad', 22.50, '\x6f4922f45568161a8cdf4ad2299f6d23');
INSERT INTO app.item VALUES (19, 'item 19', 'ok', 23.75, '\x1f0e3dad99908345f7439f8ffabdffc4');
INSERT INTO app.item VALUES (20, 'item 20', 'happy', 25.00, '\x98f13708210194c475687be6106a3b84');
INSERT INTO app.item VALUES (21, 'item 21	with tab
and \ more', 'sad', 26.25, '\x3c59dc048e8850243be8079a5c74d079');
INSERT INTO app.item VALUES (22, 'item 22', 'ok', 27.50, '\xb6d767d2f8ed5d21a44b0e5886680cb9');
INSERT INTO app.item VALUES (23, 'item 23', 'happy', 28.75, '\x37693cfc748049e45d87b8c7d8b9aacd');
INSERT INTO app.item VALUES (24, 'item 24', 'sad', 30.00, '\x1ff1de774005f8da13f42943881c655f');
INSERT INTO app.item VALUES (25, 'item 25', 'ok', 31.25, '\x8e296a067a37563370ded05f5a3bf3ec');
INSERT INTO app.item VALUES (26, 'item 26', 'happy', 32.50, '\x4e732ced3463d06de0ca9a15b6153677');
INSERT INTO app.item VALUES (27, 'item 27', 'sad', 33.75, '\x02e74f10e0327ad868d138f2b4fdd6f0');
INSERT INTO app.item VALUES (28, 'item 28	with tab
and \ more', 'ok', 35.00, '\x33e75ff09dd601bbe69f351039152189');
INSERT INTO app.item VALUES (29, 'item 29', 'happy', 36.25, '\x6ea9ab1baa0efb9e19094440c317e21b');
INSERT INTO app.item VALUES (30, 'item 30', 'sad', 37.50, '\x34173cb38f07f89ddbebc2ac9128303f');
INSERT INTO app.item VALUES (31, 'item 31', 'ok', 38.75, '\xc16a5320fa475530d9583c34fd356ef5');
INSERT INTO app.item VALUES (32, 'item 32', 'happy', 40.00, '\x6364d3f0f495b6ab9dcf8d3b5c6e0b01');
INSERT INTO app.item VALUES (33, 'item 33', 'sad', 41.25, '\x182be0c5cdcd5072bb1864cdee4d3d6e');
INSERT INTO app.item VALUES (34, 'item 34', 'ok', 42.50, '\xe369853df766fa44e1ed0ff613f563bd');
INSERT INTO app.item VALUES (35, 'item 35	with tab
and \ more', 'happy', 43.75, '\x1c383cd30b7c298ab50293adfecb7b18');
INSERT INTO app.item VALUES (36, 'item 36', 'sad', 45.00, '\x19ca14e7ea6328a42e0eb13d585e4c22');
INSERT INTO app.item VALUES (37, 'item 37', 'ok', 46.25, '\xa5bfc9e07964f8dddeb95fc584cd965d');
INSERT INTO app.item VALUES (38, 'item 38', 'happy', 47.50, '\xa5771bce93e200c36f7cd9dfd0e5deaa');
INSERT INTO app.item VALUES (39, 'item 39', 'sad', 48.75, '\xd67d8ab4f4c10bf22aa353e27879133c');
INSERT INTO app.item VALUES (40, 'item 40', 'ok', 50.00, '\xd645920e395fedad7bbbed0eca3fe2e0');
INSERT INTO app.item VALUES (41, 'item 41', 'happy', 51.25, '\x3416a75f4cea9109507cacd8e2f2aefc');
INSERT INTO app.item VALUES (42, 'item 42	with tab
and \ more', 'sad', 52.50, '\xa1d0c6e83f027327d8461063f4ac58a6');
INSERT INTO app.item VALUES (43, 'item 43', 'ok', 53.75, '\x17e62166fc8586dfa4d1bc0e1742c08b');
INSERT INTO app.item VALUES (44, 'item 44', 'happy', 55.00, '\xf7177163c833dff4b38fc8d2872f1ec6');
INSERT INTO app.item VALUES (45, 'item 45', 'sad', 56.25, '\x6c8349cc7260ae62e3b1396831a8398f');
INSERT INTO app.item VALUES (46, 'item 46', 'ok', 57.50, '\xd9d4f495e875a2e075a1a4a6e1b9770f');
INSERT INTO app.item VALUES (47, 'item 47', 'happy', 58.75, '\x67c6a1e7ce56d3d6fa748ab6d9af3fd7');
INSERT INTO app.item VALUES (48, 'item 48', 'sad', 60.00, '\x642e92efb79421734881b53e1e1b18b6');
INSERT INTO app.item VALUES (49, 'item 49	with tab
and \ more', 'ok', 61.25, '\xf457c545a9ded88f18ecee47145a72c0');
INSERT INTO app.item VALUES (50, 'item 50', 'happy', 62.50, '\xc0c7c76d30bd3dcaefc96f40275bdc0a');
INSERT INTO app.item VALUES (51, 'item 51', 'sad', 63.75, '\x2838023a778dfaecdc212708f721b788');
INSERT INTO app.item VALUES (52, 'item 52', 'ok', 65.00, '\x9a1158154dfa42caddbd0694a4e9bdc8');
INSERT INTO app.item VALUES (53, 'item 53', 'happy', 66.25, '\xd82c8d1619ad8176d665453cfb2e55f0');
INSERT INTO app.item VALUES (54, 'item 54', 'sad', 67.50, '\xa684eceee76fc522773286a895bc8436');
INSERT INTO app.item VALUES (55, 'item 55', 'ok', 68.75, '\xb53b3a3d6ab90ce0268229151c9bde11');
INSERT INTO app.item VALUES (56, 'item 56	with tab
and \ more', 'happy', 70.00, '\x9f61408e3afb633e50cdf1b20de6f466');
INSERT INTO app.item VALUES (57, 'item 57', 'sad', 71.25, '\x72b32a1f754ba1c09b3695e0cb6cde7f');
INSERT INTO app.item VALUES (58, 'item 58', 'ok', 72.50, '\x66f041e16a60928b05a7e228a89c3799');
INSERT INTO app.item VALUES (59, 'item 59', 'happy', 73.75, '\x093f65e080a295f8076b1c5722a46aa2');
INSERT INTO app.item VALUES (60, 'item 60', 'sad', 75.00, '\x072b030ba126b2f4b2374f342be9ed44');
INSERT INTO app.item VALUES (61, 'item 61', 'ok', 76.25, '\x7f39f8317fbdb1988ef4c628eba02591');
INSERT INTO app.item VALUES (62, 'item 62', 'happy', 77.50, '\x44f683a84163b3523afe57c2e008bc8c');
INSERT INTO app.item VALUES (63, 'item 63	with tab
and \ more', 'sad', 78.75, '\x03afdbd66e7929b125f8597834fa83a4');
INSERT INTO app.item VALUES (64, 'item 64', 'ok', 80.00, '\xea5d2f1c4608232e07d3aa3d998e5135');
INSERT INTO app.item VALUES (65, 'item 65', 'happy', 81.25, '\xfc490ca45c00b1249bbe3554a4fdf6fb');
INSERT INTO app.item VALUES (66, 'item 66', 'sad', 82.50, '\x3295c76acbf4caaed33c36b1b5fc2cb1');
INSERT INTO app.item VALUES (67, 'item 67', 'ok', 83.75, '\x735b90b4568125ed6c3f678819b6e058');
INSERT INTO app.item VALUES (68, 'item 68', 'happy', 85.00, '\xa3f390d88e4c41f2747bfa2f1b5f87db');
INSERT INTO app.item VALUES (69, 'item 69', 'sad', 86.25, '\x14bfa6bb14875e45bba028a21ed38046');
INSERT INTO app.item VALUES (70, 'item 70	with tab
and \ more', 'ok', 87.50, '\x7cbbc409ec990f19c78c75bd1e06f215');
INSERT INTO app.item VALUES (71, 'item 71', 'happy', 88.75, '\xe2c420d928d4bf8ce0ff2ec19b371514');
INSERT INTO app.item VALUES (72, 'item 72', 'sad', 90.00, '\x32bb90e8976aab5298d5da10fe66f21d');
INSERT INTO app.item VALUES (73, 'item 73', 'ok', 91.25, '\xd2ddea18f00665ce8623e36bd4e3c7c5');
INSERT INTO app.item VALUES (74, 'item 74', 'happy', 92.50, '\xad61ab143223efbc24c7d2583be69251');
INSERT INTO app.item VALUES (75, 'item 75', 'sad', 93.75, '\xd09bf41544a3365a46c9077ebb5e35c3');
INSERT INTO app.item VALUES (76, 'item 76', 'ok', 95.00, '\xfbd7939d674997cdb4692d34de8633c4');
INSERT INTO app.item VALUES (77, 'item 77	with tab
and \ more', 'happy', 96.25, '\x28dd2c7955ce926456240b2ff0100bde');
INSERT INTO app.item VALUES (78, 'item 78', 'sad', 97.50, '\x35f4a8d465e6e1edc05f3d8ab658c551');
INSERT INTO app.item VALUES (79, 'item 79', 'ok', 98.75, '\xd1fe173d08e959397adf34b1d77e88d7');
INSERT INTO app.item VALUES (80, 'item 80', 'happy', 100.00, '\xf033ab37c30201f73f142449d037028d');
INSERT INTO app.item VALUES (81, 'item 81', 'sad', 101.25, '\x43ec517d68b6edd3015b3edc9a11367b');
INSERT INTO app.item VALUES (82, 'item 82', 'ok', 102.50, '\x9778d5d219c5080b9a6a17bef029331c');
INSERT INTO app.item VALUES (83, 'item 83', 'happy', 103.75, '\xfe9fc289c3ff0af142b6d3bead98a923');
INSERT INTO app.item VALUES (84, 'item 84	with tab
and \ more', 'sad', 105.00, '\x68d30a9594728bc39aa24be94b319d21');
INSERT INTO app.item VALUES (85, 'item 85', 'ok', 106.25, '\x3ef815416f775098fe977004015c6193');
INSERT INTO app.item VALUES (86, 'item 86', 'happy', 107.50, '\x93db85ed909c13838ff95ccfa94cebd9');
INSERT INTO app.item VALUES (87, 'item 87', 'sad', 108.75, '\xc7e1249ffc03eb9ded908c236bd1996d');
INSERT INTO app.item VALUES (88, 'item 88', 'ok', 110.00, '\x2a38a4a9316c49e5a833517c45d31070');
INSERT INTO app.item VALUES (89, 'item 89', 'happy', 111.25, '\x7647966b7343c29048673252e490f736');
INSERT INTO app.item VALUES (90, 'item 90', 'sad', 112.50, '\x8613985ec49eb8f757ae6439e879bb2a');
INSERT INTO app.item VALUES (91, 'item 91	with tab
and \ more', 'ok', 113.75, '\x54229abfcfa5649e7003b83dd4755294');
INSERT INTO app.item VALUES (92, 'item 92', 'happy', 115.00, '\x92cc227532d17e56e07902b254dfad10');
INSERT INTO app.item VALUES (93, 'item 93', 'sad', 116.25, '\x98dce83da57b0395e163467c9dae521b');
INSERT INTO app.item VALUES (94, 'item 94', 'ok', 117.50, '\xf4b9ec30ad9f68f89b29639786cb62ef');
INSERT INTO app.item VALUES (95, 'item 95', 'happy', 118.75, '\x812b4ba287f5ee0bc9d43bbf5bbe87fb');
INSERT INTO app.item VALUES (96, 'item 96', 'sad', 120.00, '\x26657d5ff9020d2abefe558796b99584');
INSERT INTO app.item VALUES (97, 'item 97', 'ok', 121.25, '\xe2ef524fbf3d9fe611d5a8e90fefdc9c');
INSERT INTO app.item VALUES (98, 'item 98	with tab
and \ more', 'happy', 122.50, '\xed3d2c21991e3bef5e069713af9fa6ca');
INSERT INTO app.item VALUES (99, 'item 99', 'sad', 123.75, '\xac627ab1ccbdb62ec96e702f07f6425b');
INSERT INTO app.item VALUES (100, 'item 100', 'ok', 125.00, '\xf899139df5e1059396431415e770c6dd');
INSERT INTO app.item VALUES (101, 'item 101', 'happy', 126.25, '\x38b3eff8baf56627478ec76a704e9b52');
INSERT INTO app.item VALUES (102, 'item 102', 'sad', 127.50, '\xec8956637a99787bd197eacd77acce5e');
INSERT INTO app.item VALUES (103, 'item 103', 'ok', 128.75, '\x6974ce5ac660610b44d9b9fed0ff9548');
INSERT INTO app.item VALUES (104, 'item 104', 'happy', 130.00, '\xc9e1074f5b3f9fc8ea15d152add07294');
INSERT INTO app.item VALUES (105, 'item 105	with tab
and \ more', 'sad', 131.25, '\x65b9eea6e1cc6bb9f0cd2a47751a186f');
INSERT INTO app.item VALUES (106, 'item 106', 'ok', 132.50, '\xf0935e4cd5920aa6c7c996a5ee53a70f');
INSERT INTO app.item VALUES (107, 'item 107', 'happy', 133.75, '\xa97da629b098b75c294dffdc3e463904');
INSERT INTO app.item VALUES (108, 'item 108', 'sad', 135.00, '\xa3c65c2974270fd093ee8a9bf8ae7d0b');
INSERT INTO app.item VALUES (109, 'item 109', 'ok', 136.25, '\x2723d092b63885e0d7c260cc007e8b9d');
INSERT INTO app.item VALUES (110, 'item 110', 'happy', 137.50, '\x5f93f983524def3dca464469d2cf9f3e');
INSERT INTO app.item VALUES (111, 'item 111', 'sad', 138.75, '\x698d51a19d8a121ce581499d7b701668');
INSERT INTO app.item VALUES (112, 'item 112	with tab
and \ more', 'ok', 140.00, '\x7f6ffaa6bb0b408017b62254211691b5');
INSERT INTO app.item VALUES (113, 'item 113', 'happy', 141.25, '\x73278a4a86960eeb576a8fd4c9ec6997');
INSERT INTO app.item VALUES (114, 'item 114', 'sad', 142.50, '\x5fd0b37cd7dbbb00f97ba6ce92bf5add');
INSERT INTO app.item VALUES (115, 'item 115', 'ok', 143.75, '\x2b44928ae11fb9384c4cf38708677c48');
INSERT INTO app.item VALUES (116, 'item 116', 'happy', 145.00, '\xc45147dee729311ef5b5c3003946c48f');
INSERT INTO app.item VALUES (117, 'item 117', 'sad', 146.25, '\xeb160de1de89d9058fcb0b968dbbbd68');
INSERT INTO app.item VALUES (118, 'item 118', 'ok', 147.50, '\x5ef059938ba799aaa845e1c2e8a762bd');
INSERT INTO app.item VALUES (119, 'item 119	with tab
and \ more', 'happy', 148.75, '\x07e1cd7dca89a1678042477183b7ac3f');
INSERT INTO app.item VALUES (120, 'item 120', 'sad', 150.00, '\xda4fb5c6e93e74d3df8527599fa62642');
INSERT INTO app.item VALUES (121, 'item 121', 'ok', 151.25, '\x4c56ff4ce4aaf9573aa5dff913df997a');
INSERT INTO app.item VALUES (122, 'item 122', 'happy', 152.50, '\xa0a080f42e6f13b3a2df133f073095dd');
INSERT INTO app.item VALUES (123, 'item 123', 'sad', 153.75, '\x202cb962ac59075b964b07152d234b70');
INSERT INTO app.item VALUES (124, 'item 124', 'ok', 155.00, '\xc8ffe9a587b126f152ed3d89a146b445');
INSERT INTO app.item VALUES (125, 'item 125', 'happy', 156.25, '\x3def184ad8f4755ff269862ea77393dd');
INSERT INTO app.item VALUES (126, 'item 126	with tab
and \ more', 'sad', 157.50, '\x069059b7ef840f0c74a814ec9237b6ec');
INSERT INTO app.item VALUES (127, 'item 127', 'ok', 158.75, '\xec5decca5ed3d6b8079e2e7e7bacc9f2');
INSERT INTO app.item VALUES (128, 'item 128', 'happy', 160.00, '\x76dc611d6ebaafc66cc0879c71b5db5c');
INSERT INTO app.item VALUES (129, 'item 129', 'sad', 161.25, '\xd1f491a404d6854880943e5c3cd9ca25');
INSERT INTO app.item VALUES (130, 'item 130', 'ok', 162.50, '\x9b8619251a19057cff70779273e95aa6');
INSERT INTO app.item VALUES (131, 'item 131', 'happy', 163.75, '\x1afa34a7f984eeabdbb0a7d494132ee5');
INSERT INTO app.item VALUES (132, 'item 132', 'sad', 165.00, '\x65ded5353c5ee48d0b7d48c591b8f430');
INSERT INTO app.item VALUES (133, 'item 133	with tab
and \ more', 'ok', 166.25, '\x9fc3d7152ba9336a670e36d0ed79bc43');
INSERT INTO app.item VALUES (134, 'item 134', 'happy', 167.50, '\x02522a2b2726fb0a03bb19f2d8d9524d');
INSERT INTO app.item VALUES (135, 'item 135', 'sad', 168.75, '\x7f1de29e6da19d22b51c68001e7e0e54');
INSERT INTO app.item VALUES (136, 'item 136', 'ok', 170.00, '\x42a0e188f5033bc65bf8d78622277c4e');
INSERT INTO app.item VALUES (137, 'item 137', 'happy', 171.25, '\x3988c7f88ebcb58c6ce932b957b6f332');
INSERT INTO app.item VALUES (138, 'item 138', 'sad', 172.50, '\x013d407166ec4fa56eb1e1f8cbe183b9');
INSERT INTO app.item VALUES (139, 'item 139', 'ok', 173.75, '\xe00da03b685a0dd18fb6a08af0923de0');
INSERT INTO app.item VALUES (140, 'item 140	with tab
and \ more', 'happy', 175.00, '\x1385974ed5904a438616ff7bdb3f7439');
INSERT INTO app.item VALUES (141, 'item 141', 'sad', 176.25, '\x0f28b5d49b3020afeecd95b4009adf4c');
INSERT INTO app.item VALUES (142, 'item 142', 'ok', 177.50, '\xa8baa56554f96369ab93e4f3bb068c22');
INSERT INTO app.item VALUES (143, 'item 143', 'happy', 178.75, '\x903ce9225fca3e988c2af215d4e544d3');
INSERT INTO app.item VALUES (144, 'item 144', 'sad', 180.00, '\x0a09c8844ba8f0936c20bd791130d6b6');
INSERT INTO app.item VALUES (145, 'item 145', 'ok', 181.25, '\x2b24d495052a8ce66358eb576b8912c8');
INSERT INTO app.item VALUES (146, 'item 146', 'happy', 182.50, '\xa5e00132373a7031000fd987a3c9f87b');
INSERT INTO app.item VALUES (147, 'item 147	with tab
and \ more', 'sad', 183.75, '\x8d5e957f297893487bd98fa830fa6413');
INSERT INTO app.item VALUES (148, 'item 148', 'ok', 185.00, '\x47d1e990583c9c67424d369f3414728e');
INSERT INTO app.item VALUES (149, 'item 149', 'happy', 186.25, '\xf2217062e9a397a1dca429e7d70bc6ca');
INSERT INTO app.item VALUES (150, 'item 150', 'sad', 187.50, '\x7ef605fc8dba5425d6965fbd4c8fbe1f');
INSERT INTO app.item VALUES (151, 'item 151', 'ok', 188.75, '\xa8f15eda80c50adb0e71943adc8015cf');
INSERT INTO app.item VALUES (152, 'item 152', 'happy', 190.00, '\x37a749d808e46495a8da1e5352d03cae');
INSERT INTO app.item VALUES (153, 'item 153', 'sad', 191.25, '\xb3e3e393c77e35a4a3f3cbd1e429b5dc');
INSERT INTO app.item VALUES (154, 'item 154	with tab
and \ more', 'ok', 192.50, '\x1d7f7abc18fcb43975065399b0d1e48e');
INSERT INTO app.item VALUES (155, 'item 155', 'happy', 193.75, '\x2a79ea27c279e471f4d180b08d62b00a');
INSERT INTO app.item VALUES (156, 'item 156', 'sad', 195.00, '\x1c9ac0159c94d8d0cbedc973445af2da');
INSERT INTO app.item VALUES (157, 'item 157', 'ok', 196.25, '\x6c4b761a28b734fe93831e3fb400ce87');
INSERT INTO app.item VALUES (158, 'item 158', 'happy', 197.50, '\x06409663226af2f3114485aa4e0a23b4');
INSERT INTO app.item VALUES (159, 'item 159', 'sad', 198.75, '\x140f6969d5213fd0ece03148e62e461e');
INSERT INTO app.item VALUES (160, 'item 160', 'ok', 200.00, '\xb73ce398c39f506af761d2277d853a92');
INSERT INTO app.item VALUES (161, 'item 161	with tab
and \ more', 'happy', 201.25, '\xbd4c9ab730f5513206b999ec0d90d1fb');
INSERT INTO app.item VALUES (162, 'item 162', 'sad', 202.50, '\x82aa4b0af34c2313a562076992e50aa3');
INSERT INTO app.item VALUES (163, 'item 163', 'ok', 203.75, '\x0777d5c17d4066b82ab86dff8a46af6f');
INSERT INTO app.item VALUES (164, 'item 164', 'happy', 205.00, '\xfa7cdfad1a5aaf8370ebeda47a1ff1c3');
INSERT INTO app.item VALUES (165, 'item 165', 'sad', 206.25, '\x9766527f2b5d3e95d4a733fcfb77bd7e');
INSERT INTO app.item VALUES (166, 'item 166', 'ok', 207.50, '\x7e7757b1e12abcb736ab9a754ffb617a');
INSERT INTO app.item VALUES (167, 'item 167', 'happy', 208.75, '\x5878a7ab84fb43402106c575658472fa');
INSERT INTO app.item VALUES (168, 'item 168	with tab
and \ more', 'sad', 210.00, '\x006f52e9102a8d3be2fe5614f42ba989');
INSERT INTO app.item VALUES (169, 'item 169', 'ok', 211.25, '\x3636638817772e42b59d74cff571fbb3');
INSERT INTO app.item VALUES (170, 'item 170', 'happy', 212.50, '\x149e9677a5989fd342ae44213df68868');
INSERT INTO app.item VALUES (171, 'item 171', 'sad', 213.75, '\xa4a042cf4fd6bfb47701cbc8a1653ada');
INSERT INTO app.item VALUES (172, 'item 172', 'ok', 215.00, '\x1ff8a7b5dc7a7d1f0ed65aaa29c04b1e');
INSERT INTO app.item VALUES (173, 'item 173', 'happy', 216.25, '\xf7e6c85504ce6e82442c770f7c8606f0');
INSERT INTO app.item VALUES (174, 'item 174', 'sad', 217.50, '\xbf8229696f7a3bb4700cfddef19fa23f');
INSERT INTO app.item VALUES (175, 'item 175	with tab
and \ more', 'ok', 218.75, '\x82161242827b703e6acf9c726942a1e4');
INSERT INTO app.item VALUES (176, 'item 176', 'happy', 220.00, '\x38af86134b65d0f10fe33d30dd76442e');
INSERT INTO app.item VALUES (177, 'item 177', 'sad', 221.25, '\x96da2f590cd7246bbde0051047b0d6f7');
INSERT INTO app.item VALUES (178, 'item 178', 'ok', 222.50, '\x8f85517967795eeef66c225f7883bdcb');
INSERT INTO app.item VALUES (179, 'item 179', 'happy', 223.75, '\x8f53295a73878494e9bc8dd6c3c7104f');
INSERT INTO app.item VALUES (180, 'item 180', 'sad', 225.00, '\x045117b0e0a11a242b9765e79cbf113f');
INSERT INTO app.item VALUES (181, 'item 181', 'ok', 226.25, '\xfc221309746013ac554571fbd180e1c8');
INSERT INTO app.item VALUES (182, 'item 182	with tab
and \ more', 'happy', 227.50, '\x4c5bde74a8f110656874902f07378009');
INSERT INTO app.item VALUES (183, 'item 183', 'sad', 228.75, '\xcedebb6e872f539bef8c3f919874e9d7');
INSERT INTO app.item VALUES (184, 'item 184', 'ok', 230.00, '\x6cdd60ea0045eb7a6ec44c54d29ed402');
INSERT INTO app.item VALUES (185, 'item 185', 'happy', 231.25, '\xeecca5b6365d9607ee5a9d336962c534');
INSERT INTO app.item VALUES (186, 'item 186', 'sad', 232.50, '\x9872ed9fc22fc182d371c3e9ed316094');
INSERT INTO app.item VALUES (187, 'item 187', 'ok', 233.75, '\x31fefc0e570cb3860f2a6d4b38c6490d');
INSERT INTO app.item VALUES (188, 'item 188', 'happy', 235.00, '\x9dcb88e0137649590b755372b040afad');
INSERT INTO app.item VALUES (189, 'item 189	with tab
and \ more', 'sad', 236.25, '\xa2557a7b2e94197ff767970b67041697');
INSERT INTO app.item VALUES (190, 'item 190', 'ok', 237.50, '\xcfecdb276f634854f3ef915e2e980c31');
INSERT INTO app.item VALUES (191, 'item 191', 'happy', 238.75, '\x0aa1883c6411f7873cb83dacb17b0afc');
INSERT INTO app.item VALUES (192, 'item 192', 'sad', 240.00, '\x58a2fc6ed39fd083f55d4182bf88826d');
INSERT INTO app.item VALUES (193, 'item 193', 'ok', 241.25, '\xbd686fd640be98efaae0091fa301e613');
INSERT INTO app.item VALUES (194, 'item 194', 'happy', 242.50, '\xa597e50502f5ff68e3e25b9114205d4a');
INSERT INTO app.item VALUES (195, 'item 195', 'sad', 243.75, '\x0336dcbab05b9d5ad24f4333c7658a0e');
INSERT INTO app.item VALUES (196, 'item 196	with tab
and \ more', 'ok', 245.00, '\x084b6fbb10729ed4da8c3d3f5a3ae7c9');
INSERT INTO app.item VALUES (197, 'item 197', 'happy', 246.25, '\x85d8ce590ad8981ca2c8286f79f59954');
INSERT INTO app.item VALUES (198, 'item 198', 'sad', 247.50, '\x0e65972dce68dad4d52d063967f0a705');
INSERT INTO app.item VALUES (199, 'item 199', 'ok', 248.75, '\x84d9ee44e457ddef7f2c4f25dc8fa865');
INSERT INTO app.item VALUES (200, 'item 200', 'happy', 250.00, '\x3644a684f98ea8fe223c713b77189a77');


--
-- Data for Name: odd "name" (x); Type: TABLE DATA; Schema: app; Owner: zoo_owner
--



--
-- Name: counter; Type: SEQUENCE SET; Schema: app; Owner: zoo_owner
--

SELECT pg_catalog.setval('app.counter', 42, true);


--
-- Name: item_id_seq; Type: SEQUENCE SET; Schema: app; Owner: zoo_owner
--

SELECT pg_catalog.setval('app.item_id_seq', 200, true);


--
-- Name: 16400001..16400003; Type: BLOB METADATA; Schema: -; Owner: postgres
--

SELECT pg_catalog.lo_create('16400001');
SELECT pg_catalog.lo_create('16400003');

ALTER LARGE OBJECT 16400001 OWNER TO postgres;
ALTER LARGE OBJECT 16400003 OWNER TO postgres;

--
-- Name: LARGE OBJECT 16400001; Type: COMMENT; Schema: -; Owner: postgres
--

COMMENT ON LARGE OBJECT 16400001 IS 'large';


--
-- Name: 16400002; Type: BLOB METADATA; Schema: -; Owner: zoo_owner
--

SELECT pg_catalog.lo_create('16400002');

ALTER LARGE OBJECT 16400002 OWNER TO zoo_owner;

--
-- Data for Name: 16400001..16400003; Type: BLOBS; Schema: -; Owner: postgres
--

BEGIN;

SELECT pg_catalog.lo_open('16400001', 131072);
SELECT pg_catalog.lowrite(0, '\x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');
SELECT pg_catalog.lowrite(0, '\x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');
SELECT pg_catalog.lo_close(0);

SELECT pg_catalog.lo_open('16400003', 131072);
SELECT pg_catalog.lo_close(0);

COMMIT;

--
-- Data for Name: 16400002; Type: BLOBS; Schema: -; Owner: zoo_owner
--

BEGIN;

SELECT pg_catalog.lo_open('16400002', 131072);
SELECT pg_catalog.lowrite(0, '\x7365636f6e64');
SELECT pg_catalog.lo_close(0);

COMMIT;

--
-- Name: item item_pkey; Type: CONSTRAINT; Schema: app; Owner: zoo_owner
--

ALTER TABLE ONLY app.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (id);


--
-- Name: event_at; Type: INDEX; Schema: app; Owner: zoo_owner
--

CREATE INDEX event_at ON ONLY app.event USING btree (at);


--
-- Name: event_2023_at_idx; Type: INDEX; Schema: app; Owner: zoo_owner
--

CREATE INDEX event_2023_at_idx ON app.event_2023 USING btree (at);


--
-- Name: event_2024_at_idx; Type: INDEX; Schema: app; Owner: zoo_owner
--

CREATE INDEX event_2024_at_idx ON app.event_2024 USING btree (at);


SET default_tablespace = zoo_space;

--
-- Name: item_name; Type: INDEX; Schema: app; Owner: zoo_owner; Tablespace: zoo_space
--

CREATE INDEX item_name ON app.item USING btree (name);


SET default_tablespace = '';

--
-- Name: moods_mood; Type: INDEX; Schema: app; Owner: zoo_owner
--

CREATE UNIQUE INDEX moods_mood ON app.moods USING btree (mood);


--
-- Name: event_2023_at_idx; Type: INDEX ATTACH; Schema: app; Owner: zoo_owner
--

ALTER INDEX app.event_at ATTACH PARTITION app.event_2023_at_idx;


--
-- Name: event_2024_at_idx; Type: INDEX ATTACH; Schema: app; Owner: zoo_owner
--

ALTER INDEX app.event_at ATTACH PARTITION app.event_2024_at_idx;


--
-- Name: item_stats; Type: STATISTICS; Schema: app; Owner: postgres
--

CREATE STATISTICS app.item_stats ON name, mood FROM app.item;


ALTER STATISTICS app.item_stats OWNER TO postgres;

--
-- Name: cheap cheap_rule; Type: RULE; Schema: app; Owner: zoo_owner
--

CREATE RULE cheap_rule AS
    ON INSERT TO app.cheap DO INSTEAD NOTHING;


--
-- Name: item item_trig; Type: TRIGGER; Schema: app; Owner: zoo_owner
--

CREATE TRIGGER item_trig BEFORE INSERT ON app.item FOR EACH ROW EXECUTE FUNCTION app.trig();


--
-- Name: odd "name" (x) odd "name" (x)_b_fkey; Type: FK CONSTRAINT; Schema: app; Owner: zoo_owner
--

ALTER TABLE ONLY app."odd ""name"" (x)"
    ADD CONSTRAINT "odd ""name"" (x)_b_fkey" FOREIGN KEY (b) REFERENCES app.item(id);


--
-- Name: item; Type: ROW SECURITY; Schema: app; Owner: zoo_owner
--

ALTER TABLE app.item ENABLE ROW LEVEL SECURITY;

--
-- Name: item item_policy; Type: POLICY; Schema: app; Owner: zoo_owner
--

CREATE POLICY item_policy ON app.item FOR SELECT USING ((price < (100)::numeric));


--
-- Name: POLICY item_policy ON item; Type: COMMENT; Schema: app; Owner: zoo_owner
--

COMMENT ON POLICY item_policy ON app.item IS 'a policy';


--
-- Name: pub; Type: PUBLICATION; Schema: -; Owner: postgres
--

CREATE PUBLICATION pub WITH (publish = 'insert, update, delete, truncate');


ALTER PUBLICATION pub OWNER TO postgres;

--
-- Name: PUBLICATION pub; Type: COMMENT; Schema: -; Owner: postgres
--

COMMENT ON PUBLICATION pub IS 'published';


--
-- Name: pub item; Type: PUBLICATION TABLE; Schema: app; Owner: postgres
--

ALTER PUBLICATION pub ADD TABLE ONLY app.item;


--
-- Name: SCHEMA app; Type: ACL; Schema: -; Owner: zoo_owner
--

GRANT USAGE ON SCHEMA app TO zoo_reader;


--
-- Name: TABLE item; Type: ACL; Schema: app; Owner: zoo_owner
--

GRANT SELECT ON TABLE app.item TO zoo_reader WITH GRANT OPTION;


--
-- Name: COLUMN item.name; Type: ACL; Schema: app; Owner: zoo_owner
--

GRANT UPDATE(name) ON TABLE app.item TO zoo_reader;


--
-- Name: LARGE OBJECTS 16400001..16400003; Type: ACL; Schema: -; Owner: postgres
--

GRANT SELECT ON LARGE OBJECT 16400001 TO zoo_reader;
GRANT SELECT ON LARGE OBJECT 16400003 TO zoo_reader;

--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: app; Owner: zoo_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE zoo_owner IN SCHEMA app GRANT SELECT ON TABLES TO zoo_reader;


--
-- Name: watcher; Type: EVENT TRIGGER; Schema: -; Owner: postgres
--

CREATE EVENT TRIGGER watcher ON ddl_command_end
   EXECUTE FUNCTION public.watch();


ALTER EVENT TRIGGER watcher OWNER TO postgres;

--
-- Name: EVENT TRIGGER watcher; Type: COMMENT; Schema: -; Owner: postgres
--

COMMENT ON EVENT TRIGGER watcher IS 'watches';


--
-- Name: moods; Type: MATERIALIZED VIEW DATA; Schema: app; Owner: zoo_owner
--

REFRESH MATERIALIZED VIEW app.moods;


--
-- PostgreSQL database dump complete
--

\unrestrict zoo

