-- Configuration tables of an extension: their rows are dumped, the tables are not; foreign keys among them
-- decide the order. Made from an ordinary extension by hand.
-- needs extension hstore
create extension hstore;
create table public.config_a (id integer primary key, b integer);
create table public.config_b (id integer primary key, v text);
create table public.config_c (id serial primary key, v text);
alter table public.config_a add foreign key (b) references public.config_b;
create table public.no_config (id integer);
insert into public.config_b values (1, 'of the extension'), (100, 'mine'), (101, E'tab\there');
insert into public.config_a values (1, 1), (100, 100);
insert into public.config_c (v) values ('x'), (null);
insert into public.no_config values (1);
alter extension hstore add table public.config_a;
alter extension hstore add table public.config_b;
alter extension hstore add table public.config_c;
alter extension hstore add sequence public.config_c_id_seq;
alter extension hstore add table public.no_config;
update pg_catalog.pg_extension
set extconfig = array['public.config_a'::regclass::oid, 'public.config_b'::regclass::oid, 'public.config_c'::regclass::oid, 'public.config_c_id_seq'::regclass::oid],
  extcondition = array['', 'where id >= 100', '', '']
where extname = 'hstore';
create table public.mine (id integer);
insert into public.mine values (7);
