-- needs version 18
-- WITHOUT OVERLAPS, PERIOD, and foreign keys that are not enforced.
-- needs extension btree_gist
CREATE EXTENSION btree_gist;
CREATE SCHEMA app;
CREATE TABLE app.rooms (id integer, during tstzrange, PRIMARY KEY (id, during WITHOUT OVERLAPS));
CREATE TABLE app.uniq (id integer, during tstzrange, CONSTRAINT u UNIQUE (id, during WITHOUT OVERLAPS) DEFERRABLE);
CREATE TABLE app.bookings (room integer, during tstzrange, FOREIGN KEY (room, PERIOD during) REFERENCES app.rooms (id, PERIOD during));
CREATE TABLE app.loose (id integer PRIMARY KEY, other integer REFERENCES app.loose NOT ENFORCED);
