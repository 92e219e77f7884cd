// Package dump takes a database out of a server. What comes in is a connection's
// configuration and [Options]; what goes out is an archive, written through
// pgarchive, and a [manifest.Manifest] of what it holds, taken while the data went by.
//
// A dump goes like this:
//
//  1. A first session begins a read-only transaction and, when there are workers,
//     exports its snapshot; it holds the snapshot until the end. The workers import
//     it. All timeouts of the sessions are off, and the holder is asked for a sign of
//     life now and then.
//  2. The catalogue is read over all sessions and the tables are locked against
//     changes of their definition (catalog, lock.go); the objects are ordered (order)
//     and rendered (ddl).
//  3. A [Plan] is made of the entries: what is not wanted is left out, big tables are
//     cut into ranges of pages, each of them a data entry of its own (plan.go, chunk.go).
//  4. The entries are given to the archive's writer, then the data: by N workers at
//     once, the largest piece first, or in the order of the entries if the archive
//     goes into a pipe; one after the other in a script or a tar archive (worker.go).
//     A table's rows go from the socket through the digest to the writer without being
//     looked into (table.go), as text, or in COPY's binary form where that is
//     asked for and safe (copyformat.go).
//  5. A worker whose connection breaks connects again, imports the snapshot and does
//     its piece once more.
//  6. The manifest is attached and the writer closed, which gives the archive its
//     final name. Whatever fails before that leaves nothing there.
package dump
