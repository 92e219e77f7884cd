// Package pgflags reads the command lines of pg_dump, pg_restore and pg_dumpall.
// What comes in are arguments; what goes out are the Options of packages dump and
// restore, or an error in the words of the programs whose language this is.
//
// Each program has one table of its options (dump.go, restore.go, dumpall.go), from which both the
// parser and the help text are made. getopt.go parses as getopt_long of the GNU C
// library does, unique prefixes of long names included.
package pgflags
