// Package manifest says what a backup contains, exactly. What comes in are the
// archive's entries and the digests taken while their data went by; what goes out is
// a [Manifest]: a JSON document that is stored with the backup and against which a
// restored database, or another backup, can be compared with [Compare].
//
// The document is versioned and described in docs/format.md. It is read strictly: a
// newer version, an unknown member, a sum that does not add up or a root that does
// not fit are errors.
package manifest
