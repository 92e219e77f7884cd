-- Objects whose names and dependencies say little about a safe order, and dependency loops.
create schema o;

-- order by name only where nothing else matters
create table o.b (id integer primary key);
create table o.a (id integer primary key, b integer references o.b);
create table o.c (like o.a including all);

-- foreign keys in a circle
create table o.chicken (id integer primary key, egg integer);
create table o.egg (id integer primary key, chicken integer references o.chicken);
alter table o.chicken add foreign key (egg) references o.egg;
create table o.self (id integer primary key, parent integer references o.self);
insert into o.b values (1);
insert into o.a values (1, 1);

-- a default that needs a function on the table's own row type
create table o.d (id integer);
--:since 14
create function o.next_d() returns integer language sql begin atomic select coalesce(max(id), 0) + 1 from o.d; end;
--:end
--:until 13
create function o.next_d() returns integer language sql as 'select coalesce(max(id), 0) + 1 from o.d';
--:end
alter table o.d alter id set default o.next_d();

-- a check constraint with a function over the table
create table o.e (id integer);
create function o.ok_e(o.e) returns boolean language sql as 'select $1.id > 0';
alter table o.e add constraint ok check (o.ok_e(e.*));

-- a view that groups by a primary key depends on the key, which is dumped later
create table o.f (id integer primary key, name text);
create view o.f_view as select id, name, count(*) as n from o.f group by id;
create materialized view o.f_mat as select id, name, count(*) as n from o.f group by id;
create materialized view o.f_mat2 as select * from o.f_mat;
create view o.f_view2 as select * from o.f_view;
--:since 14
create function o.f_func() returns setof o.f language sql begin atomic select id, name from o.f group by id; end;
--:end
--:until 13
create function o.f_func() returns setof o.f language sql as 'select id, name from o.f group by id';
--:end

-- views that need each other's names
create view o.z as select 1 as one;
create view o.y as select * from o.z;
create or replace view o.z as select 1 as one, (select count(*) from pg_catalog.pg_class) as n;

-- overloaded functions, operators
create function o.over(integer) returns integer language sql as 'select 1';
create function o.over(text) returns integer language sql as 'select 1';
create function o.over(bigint, text) returns integer language sql as 'select 1';
create function o.over() returns integer language sql as 'select 1';
create operator o.@#@ (leftarg = integer, rightarg = integer, procedure = int4pl);
create operator o.@#@ (leftarg = bigint, rightarg = bigint, procedure = int8pl);
create operator o.@#@ (rightarg = bigint, procedure = int8um);

-- the same constraint, trigger, rule and policy names on several tables
create function o.trg() returns trigger language plpgsql as 'begin return new; end';
create table o.t2 (id integer constraint same check (id > 0));
create table o.t1 (id integer constraint same check (id > 0));
create trigger same before insert on o.t2 for each row execute procedure o.trg();
create trigger same before insert on o.t1 for each row execute procedure o.trg();
create rule same as on delete to o.t2 do instead nothing;
create rule same as on delete to o.t1 do instead nothing;
create policy same on o.t2 using (true);
create policy same on o.t1 using (true);

-- a domain whose check uses a function with the domain as argument
create domain o.dom as integer;
create function o.dom_ok(o.dom) returns boolean language sql as 'select $1 > 0';
alter domain o.dom add constraint dom_check check (o.dom_ok(value));

-- a base type with its functions
create type o.base;
create function o.base_in(cstring) returns o.base language internal immutable strict as 'int4in';
create function o.base_out(o.base) returns cstring language internal immutable strict as 'int4out';
create type o.base (input = o.base_in, output = o.base_out, like = integer);
create table o.with_base (v o.base);

-- partitions with attached indexes
create table o.part (id integer, v text) partition by range (id);
create table o.part2 partition of o.part for values from (10) to (20);
create table o.part1 partition of o.part for values from (0) to (10);
--:since 11
create index part_idx on o.part (v);
alter table o.part add primary key (id);
--:end
