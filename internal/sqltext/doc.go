// Package sqltext turns names, values and access lists into SQL text and back:
// Go strings come in, pieces of SQL text go out, and the texts in which the server
// hands out arrays, ACL items and settings come in and are taken apart.
//
// The texts are those of PostgreSQL 18's pg_dump, byte for byte, because users compare dumps.
// The rules come from src/fe_utils/string_utils.c and src/bin/pg_dump/dumputils.c of PostgreSQL 18;
// each function names its counterpart there.
// Nothing here talks to a server, and bytes above 127 pass through untouched.
package sqltext
