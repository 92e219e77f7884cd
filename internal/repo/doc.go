// Package repo keeps backups in a store. What comes in is an archive in PostgreSQL's
// directory format, file by file, and the manifest of what is in it; what goes out is the same archive,
// each object proven to be what was put, and lists of what there is.
//
// A backup is a folder, <database>/<UTC time>, which docs/format.md describes. It begins with RECOVERY.md, whose
// creation claims the folder, and is complete when its last object, manifest.json, is
// there: without it there is no backup, whatever else is there. Nothing in a complete backup is
// changed later; records of drills are added beside it.
package repo
