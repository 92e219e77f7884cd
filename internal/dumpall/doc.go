// Package dumpall writes a whole cluster as one SQL script, as pg_dumpall does. What
// comes in is a server and Options; what goes out is text: the roles, tablespaces
// and parameter privileges, which belong to no database, and then the script of each database
// as package dump writes it.
//
// Facts about texts and order are from src/bin/pg_dump/pg_dumpall.c of PostgreSQL 18.
package dumpall
