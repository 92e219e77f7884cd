// Package catalog reads a database's pg_catalog into typed objects. What comes
// in are rows, through a [Querier] that holds the dump's snapshot; what goes out
// is a [Database]: every object with its dump ID, what of it is to be dumped, and
// the dump IDs it depends on.
//
// Reading goes in three rounds. The first finds extensions, schemas and relations
// and decides by the [Options] which of them are wanted, so that the caller can
// lock the tables. The second runs the queries of all other kinds, a constant
// number of them whatever the number of objects, over as many sessions as it is
// given. The third links what they found: members to extensions, columns to
// tables, dependencies from pg_depend.
//
// Where objects are many, a query asks one catalogue and for no order; joining and sorting are done
// here. The server takes several times as long for these, the more so as each session
// has to map every page of a catalogue that it touches. Such rows are read while the first session
// still locks; the server's functions are asked after that.
//
// One kind of object is one file: its type, its query by server version, its scan.
// Package ddl has a file of the same name that renders it.
package catalog
