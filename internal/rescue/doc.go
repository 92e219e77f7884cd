// Package rescue takes rows of one table out of an archive, without a server. In come an archive, the name of
// a table and a [Key]; out goes a script of INSERT statements, a COPY block or CSV.
//
// Values are not interpreted. A row is a line of COPY's text form; of it only the field of the key column
// is looked at, and compared as numbers, as points in time or byte by byte, see [Order]. A row
// that is wanted goes out as it stands, with COPY's escapes turned into those of the output.
//
// The pieces of a table are read side by side, through their last byte, and compared with the manifest, so that what
// comes out is what was backed up. Only where the key is the whole primary key and all wanted rows have been
// found, pieces that held none of them are left. Rows come out in the order of the archive; what is ahead of its turn
// waits in bounded memory.
package rescue
