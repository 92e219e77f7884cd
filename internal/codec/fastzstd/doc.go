// Package fastzstd compresses into Zstandard frames (RFC 8878) as fast as can be. What
// comes in is a stream of bytes; what goes out is one frame, which every decoder reads,
// about as small as that of libzstd's level 1.
//
// It is here because compression is the largest part of what a dump costs on our side of the connection. The data are
// lines of a table: much the same text again and again, a few dozen bytes apart. So
// there is one search (match.go): one table, which fits the processor's first cache, with the last place of each six
// bytes, and the two distances used last, tried first. What is found goes through the
// entropy coding of the format (block.go; fse.go for sequences, huffman.go for literals), with the last block's tables where
// new ones would gain little.
//
// The three inner loops are written in assembly, too, for amd64 (asm_amd64.s): the search, literals, sequences. Go's compiler keeps
// few of their variables in registers; the search takes 1.3 to 1.4 times as long there. What other machines run writes the same bytes.
//
// Reading is left to a library: the package has no decoder but that of its tests.
package fastzstd
