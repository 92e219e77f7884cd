// Package digest identifies sets of rows. What comes in are the rows of COPY
// streams, as messages from a server or as lines from an archive; what goes out is
// a [Sum]: how many rows and bytes, and the sum modulo 2^128 of the rows' XXH3-128
// hashes.
//
// The sum does not depend on the order of the rows nor on how a table was cut, so
// the sums of the pieces of a table, added, are the sum of the table. It does depend
// on how often a row occurs.
//
// # What is a row
//
// The bytes hashed are the payload of one CopyData message. In the text format that
// is the row's line with its newline, in the encoding and with the escapes COPY gave
// it; a table without columns has rows of a single newline. In an archive the same
// lines stand one after the other up to the end marker, a line of backslash and
// period, which is not a row. COPY escapes newlines within values, so that a newline
// always ends a row, and backslashes, so that no row looks like the end marker
// (PostgreSQL's src/backend/commands/copyto.c, CopyAttributeOutText).
//
// The sum recognises damage and differences. It is not a defence against somebody
// who chooses rows in order to make two sums equal.
package digest
