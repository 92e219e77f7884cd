-- Sequences: types, limits, ownership.
CREATE SCHEMA app;
CREATE SEQUENCE app.plain;
CREATE SEQUENCE app.small AS smallint START 5 INCREMENT 2 MAXVALUE 100 CACHE 10 CYCLE;
CREATE SEQUENCE app.int AS integer;
CREATE SEQUENCE app.down INCREMENT -1;
CREATE SEQUENCE app.down_small AS smallint INCREMENT -3 MINVALUE -100 MAXVALUE 50 START 50;
CREATE SEQUENCE app."Mixed ""quoted""" MINVALUE 0 START 0;
CREATE SEQUENCE app.big MAXVALUE 9223372036854775806 MINVALUE -9223372036854775808;
CREATE TABLE app.serials (id serial PRIMARY KEY, big bigserial, small smallserial, "Odd Name" serial);
CREATE SEQUENCE app.owned OWNED BY app.serials.big;
CREATE TABLE app.uses (id integer DEFAULT nextval('app.plain'), other integer DEFAULT nextval('app."Mixed ""quoted"""'));
COMMENT ON SEQUENCE app.plain IS 'plain one';
