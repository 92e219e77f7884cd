// Package order puts catalogue objects into a safe order for a restore. What comes in is a
// [catalog.Database] with the dependencies between its objects; what goes out are the same objects,
// each after all that it depends on.
//
// The rules are those of PostgreSQL's src/bin/pg_dump/pg_dump_sort.c: objects are first sorted by kind,
// schema, name and whatever else tells them apart, so that equal databases give equal dumps. A topological sort
// then changes this order as little as the dependencies demand. Two boundary objects keep the
// sections apart. Where dependencies go in a circle, the loop is repaired: the known ones by dumping one of
// its objects in two parts, any other by forgetting one dependency, with a warning.
package order
