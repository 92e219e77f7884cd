// Package files backs up the files that a platform keeps for a database, as Supabase does in its
// storage. What comes in are the objects of an S3 endpoint with their metadata; what goes out are objects of a backup: packs, which are
// tar archives, and a document that lists every file ([Document]). Back, a file goes from its pack to an
// endpoint, and is there with the same bytes and metadata.
//
// A pack holds files up to about 64 MiB together, so that many small files become few objects, or one larger file. A
// file's name in its pack is made so that any tar program unpacks it (path.go). Every file's SHA-256 stands
// in the document; the backup's manifest has those of the packs.
package files
