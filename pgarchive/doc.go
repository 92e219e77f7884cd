// Package pgarchive reads and writes PostgreSQL's dump archives: the custom,
// directory and tar formats of pg_dump, and its plain SQL scripts (written only).
// In go entries (one per object, each with its SQL) and one stream of bytes per data entry;
// out comes an archive that the stock pg_restore restores, or the other way round.
//
// A [Writer] is told all entries first, then the data of those that have any, and
// is closed. Nothing appears under its final name before Close has written and
// synced all of it. A [Reader] gives the entries back, and the data of each by its ID.
//
// The data of a table are what pg_dump stores: the bytes of COPY … TO STDOUT in
// text form followed by [CopyEnd], or, when the entry has no CopyStmt, INSERT
// statements followed by two newlines.
//
// [Selection] decides which entries are wanted, and [Session], [WriteScript] and
// [NewPlainWriter] turn entries into the SQL that pg_restore would send or print.
// They share one code path, so that a script and a direct restore cannot differ.
//
// The formats' facts come from src/bin/pg_dump of PostgreSQL 18
// (pg_backup_archiver.c, pg_backup_custom.c, pg_backup_directory.c, pg_backup_tar.c).
// Versions 1.12 (PostgreSQL 9.0) to 1.16 (PostgreSQL 18) are read; what is written
// has the lowest version that can say it, 1.14 at least.
package pgarchive
