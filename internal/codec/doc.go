// Package codec compresses and decompresses the data streams of an archive.
// In comes a compression specification in the grammar of pg_dump's -Z option
// ("zstd:level=5,long") and a stream; out goes the same stream compressed, or
// the other way round.
//
// A Method is none, gzip, lz4 or zstd. LZ4 and zstd always travel as one frame.
// gzip has two framings: a file of a directory archive or a plain script is an
// RFC 1952 gzip file, a data block of a custom archive is an RFC 1950 zlib
// stream (deflateInit in PostgreSQL's src/bin/pg_dump/compress_gzip.c); see
// [NewWriter] and [NewBlockWriter].
//
// Encoders and decoders are expensive to make and are kept in pools; closing a
// writer or reader gives its engine back. Every encoder and decoder works in
// the goroutine that calls it.
package codec
