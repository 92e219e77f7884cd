#include "textflag.h"
#include "go_asm.h"

// All of this needs no more than what every amd64 machine has.

// FORWARDS sets R12 to the end of what is the same from R8 and from R14 on, of which four bytes are known. It uses AX, BX, CX and DX.
#define FORWARDS(more, known) \
	MOVQ    20(SI)(R8*1), CX; \
	XORQ    20(SI)(R14*1), CX; \
	MOVQ    12(SI)(R8*1), BX; \
	XORQ    12(SI)(R14*1), BX; \
	MOVQ    4(SI)(R8*1), AX; \
	XORQ    4(SI)(R14*1), AX; \
	MOVQ    $64, DX; \
	BSFQ    CX, CX; \
	CMOVQEQ DX, CX; \
	ADDQ    $128, CX; \
	BSFQ    BX, DX; \
	LEAQ    64(DX), DX; \
	CMOVQNE DX, CX; \
	BSFQ    AX, DX; \
	CMOVQNE DX, CX; \
	SHRQ    $3, CX; \
	LEAQ    4(R8)(CX*1), R12; \
	CMPQ    CX, $24; \
	JEQ     more; \
known: \
	MOVQ    search_end(R9), CX; \
	CMPQ    R12, CX; \
	CMOVQGT CX, R12

// MORE goes on with FORWARDS where all that it looked at is the same.
#define MORE(more, next, unlike, known) \
more: \
	LEAQ     (R14)(R12*1), DX; \
	SUBQ     R8, DX; \
next: \
	CMPQ     R12, search_end(R9); \
	JGE      known; \
	MOVOU    (SI)(R12*1), X0; \
	MOVOU    (SI)(DX*1), X1; \
	MOVOU    16(SI)(R12*1), X2; \
	MOVOU    16(SI)(DX*1), X3; \
	PCMPEQB  X1, X0; \
	PCMPEQB  X3, X2; \
	PMOVMSKB X0, AX; \
	PMOVMSKB X2, BX; \
	SHLL     $16, BX; \
	ORL      BX, AX; \
	XORL     $-1, AX; \
	JNE      unlike; \
	ADDQ     $32, R12; \
	ADDQ     $32, DX; \
	JMP      next; \
unlike: \
	BSFL     AX, AX; \
	ADDQ     AX, R12; \
	JMP      known

// func findSequences(s *search)
//
// SI buffer, DI table, R8 ip, R11 multiplier, R12 limit, R13 step, R15 buffer less the first repeated distance; R10 anchor
TEXT ·findSequences(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), R9
	MOVQ search_buf(R9), SI
	MOVQ search_table(R9), DI
	MOVQ $const_multiplier, R11
	MOVQ search_start(R9), R10
	MOVQ SI, R15
	SUBQ search_rep1(R9), R15
	MOVQ R10, R8
	CMPQ R8, $(const_first+4)
	JGE  outer
	MOVQ $(const_first+4), R8

outer:
	MOVQ search_last(R9), R12
	CMPQ R8, R12
	JGE  done
	LEAQ const_searchStep(R8), AX
	CMPQ AX, R12
	CMOVQLT AX, R12
	MOVQ $2, R13

loop:
	MOVQ  (SI)(R8*1), AX
	MOVQ  1(SI)(R8*1), BX
	MOVQ  AX, CX
	IMULQ R11, CX
	SHRQ  $(64-const_hashLog), CX
	MOVQ  BX, DX
	IMULQ R11, DX
	SHRQ  $(64-const_hashLog), DX
	MOVL  (DI)(CX*4), R14
	MOVL  R8, (DI)(CX*4)
	LEAQ  1(R8), CX
	SHRQ  $16, AX
	CMPL  AX, 2(R15)(R8*1)
	MOVL  (DI)(DX*4), AX
	MOVL  CX, (DI)(DX*4)
	JEQ   repeated
	MOVL  (SI)(R8*1), DX
	CMPL  DX, (SI)(R14*1)
	JEQ   hit
	CMPL  BX, (SI)(AX*1)
	JEQ   hitNext
	ADDQ  R13, R8
	CMPQ  R8, R12
	JLT   loop

	MOVQ search_last(R9), R12
	CMPQ R8, R12
	JGE  done
	INCQ R13
	LEAQ const_searchStep(R8), AX
	CMPQ AX, R12
	CMOVQLT AX, R12
	JMP  loop

hitNext:
	MOVQ CX, R8
	MOVQ AX, R14
	JMP  hit

repeated:
	ADDQ $2, R8
	LEAQ (R15)(R8*1), R14
	SUBQ SI, R14

	// R8 at, R14 match
hit:
	FORWARDS(more, known)

	// backwards
	MOVQ    -8(SI)(R8*1), AX
	XORQ    -8(SI)(R14*1), AX
	MOVQ    $-1, BX
	BSRQ    AX, AX
	CMOVQEQ BX, AX
	MOVQ    $63, CX
	SUBQ    AX, CX
	SHRQ    $3, CX
	MOVQ    R8, BX
	SUBQ    R10, BX
	CMPQ    CX, BX
	CMOVQGT BX, CX
	LEAQ    -const_first(R14), DX
	CMPQ    CX, DX
	CMOVQGT DX, CX
	SUBQ    CX, R8
	SUBQ    CX, R14
	CMPQ    CX, $8
	JEQ     back

backDone:
	// literals
	MOVQ  search_lits(R9), CX
	LEAQ  (SI)(R10*1), DX
	MOVOU (DX), X0
	MOVOU 16(DX), X1
	MOVOU X0, (CX)
	MOVOU X1, 16(CX)
	MOVQ  R8, BX
	SUBQ  R10, BX // how many
	MOVQ  R8, AX
	SUBQ  R14, AX // distance
	LEAQ  (CX)(BX*1), R10
	MOVQ  R10, search_lits(R9)
	CMPQ  BX, $32
	JGT   longLiterals

literalsDone:
	MOVQ R12, R10
	MOVQ search_seqs(R9), DX
	ADDQ $sequence__size, search_seqs(R9)
	SUBQ R8, R12
	MOVL BX, sequence_literals(DX)
	MOVL R12, sequence_match(DX)
	MOVQ search_rep1(R9), CX
	CMPQ AX, CX
	JNE  fresh
	TESTQ BX, BX
	JEQ  fresh
	MOVL $1, sequence_offset(DX)

noted:
	LEAQ 2(R8), CX
	MOVQ 2(SI)(R8*1), AX
	MOVQ R10, R8
	CMPQ R8, search_last(R9)
	JGE  done
	MOVQ -2(SI)(R8*1), BX
	IMULQ R11, AX
	SHRQ $(64-const_hashLog), AX
	MOVL CX, (DI)(AX*4)
	IMULQ R11, BX
	SHRQ $(64-const_hashLog), BX
	LEAQ -2(R8), CX
	MOVL CX, (DI)(BX*4)

	// With no literals between, the first repeated distance of the format is the one before the last.
second:
	MOVQ R8, R14
	SUBQ search_rep2(R9), R14
	MOVL (SI)(R8*1), AX
	CMPL AX, (SI)(R14*1)
	JNE  outer
	FORWARDS(more2, known2)
	MOVQ search_rep1(R9), AX
	MOVQ search_rep2(R9), BX
	MOVQ BX, search_rep1(R9)
	MOVQ AX, search_rep2(R9)
	MOVQ SI, R15
	SUBQ BX, R15
	MOVQ (SI)(R8*1), AX
	IMULQ R11, AX
	SHRQ $(64-const_hashLog), AX
	MOVL R8, (DI)(AX*4)
	MOVQ search_seqs(R9), DX
	ADDQ $sequence__size, search_seqs(R9)
	MOVQ R12, R10
	SUBQ R8, R12
	MOVL $0, sequence_literals(DX)
	MOVL R12, sequence_match(DX)
	MOVL $1, sequence_offset(DX)
	MOVQ R10, R8
	CMPQ R8, search_last(R9)
	JLT  second

done:
	MOVQ R10, search_start(R9)
	RET

fresh:
	MOVQ CX, search_rep2(R9)
	MOVQ AX, search_rep1(R9)
	MOVQ SI, R15
	SUBQ AX, R15
	ADDL $3, AX
	MOVL AX, sequence_offset(DX)
	JMP  noted

back:
	CMPQ R8, R10
	JLE  backDone
	CMPQ R14, $const_first
	JLE  backDone
	MOVB -1(SI)(R8*1), AX
	CMPB AX, -1(SI)(R14*1)
	JNE  backDone
	DECQ R8
	DECQ R14
	JMP  back

longLiterals:
	MOVQ $32, R10
	// CX to, DX from, BX how many
moreLiterals:
	MOVOU (DX)(R10*1), X0
	MOVOU 16(DX)(R10*1), X1
	MOVOU X0, (CX)(R10*1)
	MOVOU X1, 16(CX)(R10*1)
	ADDQ  $32, R10
	CMPQ  R10, BX
	JLT   moreLiterals
	JMP   literalsDone

	MORE(more, next, unlike, known)
	MORE(more2, next2, unlike2, known2)

// SYMBOL adds one literal's code above the bits in acc: its width is in the low byte of CX, which ends below all bits that count.
#define SYMBOL(from, at, acc, n) \
	MOVBLZX at(from), AX; \
	MOVQ    (DI)(AX*8), CX; \
	SHRQ    CX, acc; \
	ORQ     CX, acc; \
	ADDQ    CX, n

#define FLUSH_STREAM(to, acc, n) \
	MOVBLZX n, n; \
	MOVQ    n, CX; \
	NEGQ    CX; \
	MOVQ    acc, AX; \
	SHRQ    CX, AX; \
	MOVQ    AX, (to); \
	MOVQ    n, AX; \
	SHRQ    $3, AX; \
	ADDQ    AX, to; \
	ANDQ    $7, n

// func putGroups(codes *[256]uint64, a, b *stream, groups int)
TEXT ·putGroups(SB), NOSPLIT, $0-32
	MOVQ codes+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ stream_from(SI), R8
	MOVQ stream_to(SI), R9
	MOVQ stream_acc(SI), R10
	MOVQ stream_n(SI), R11
	MOVQ stream_from(DX), R12
	MOVQ stream_to(DX), R13
	MOVQ stream_acc(DX), R14
	MOVQ stream_n(DX), R15
	MOVQ groups+24(FP), BX
	TESTQ BX, BX
	JEQ  done

loop:
	SYMBOL(R8, -1, R10, R11)
	SYMBOL(R12, -1, R14, R15)
	SYMBOL(R8, -2, R10, R11)
	SYMBOL(R12, -2, R14, R15)
	SYMBOL(R8, -3, R10, R11)
	SYMBOL(R12, -3, R14, R15)
	SYMBOL(R8, -4, R10, R11)
	SYMBOL(R12, -4, R14, R15)
	SUBQ $4, R8
	SUBQ $4, R12
	FLUSH_STREAM(R9, R10, R11)
	FLUSH_STREAM(R13, R14, R15)
	DECQ BX
	JNE  loop

done:
	MOVQ R8, stream_from(SI)
	MOVQ R9, stream_to(SI)
	MOVQ R10, stream_acc(SI)
	MOVQ R11, stream_n(SI)
	MOVQ R12, stream_from(DX)
	MOVQ R13, stream_to(DX)
	MOVQ R14, stream_acc(DX)
	MOVQ R15, stream_n(DX)
	RET

#define ADD \
	SHRQ CX, R8; \
	ORQ  DX, R8; \
	ADDQ CX, R9

#define FLUSH \
	MOVQ R9, CX; \
	NEGQ CX; \
	MOVQ R8, AX; \
	SHRQ CX, AX; \
	MOVQ AX, (R10); \
	MOVQ R9, AX; \
	SHRQ $3, AX; \
	ADDQ AX, R10; \
	ANDQ $7, R9

// EXTRA adds the bits that tell a length from others with the same code.
#define EXTRA(code, widths) \
	MOVBLZX code(DI), AX; \
	MOVBLZX widths(R11)(AX*1), CX; \
	RORQ    CX, DX; \
	ADD

// STATE codes a code.
#define STATE(code, kind, state) \
	MOVBLZX code(DI), AX; \
	MOVQ    (kind+alphabet_table+fseTable_change)(R11)(AX*8), BX; \
	LEAQ    (BX)(state*1), CX; \
	SHRL    $16, CX; \
	MOVQ    state, DX; \
	RORQ    CX, DX; \
	ADD; \
	SHRQ    CX, state; \
	SARQ    $32, BX; \
	ADDQ    BX, state; \
	MOVWLZX (kind+alphabet_table+fseTable_states)(R11)(state*2), state

// func putSequences(b *blockWriter, s *stream, seqs *sequence, codes *[4]uint8, states *[3]uint64, n int)
//
// SI sequences, DI codes, R8 bits, R9 how many, R10 where to, R11 b, R12 to R14 states of lengths, offsets, matches; R15 left
TEXT ·putSequences(SB), NOSPLIT, $0-48
	MOVQ b+0(FP), R11
	MOVQ s+8(FP), AX
	MOVQ seqs+16(FP), SI
	MOVQ codes+24(FP), DI
	MOVQ states+32(FP), BX
	MOVQ n+40(FP), R15
	MOVQ stream_acc(AX), R8
	MOVQ stream_n(AX), R9
	MOVQ stream_to(AX), R10
	MOVQ 0(BX), R12
	MOVQ 8(BX), R13
	MOVQ 16(BX), R14
	TESTQ R15, R15
	JEQ  done

	LEAQ (DI)(R15*4), DI
	LEAQ (R15)(R15*2), AX
	LEAQ (SI)(AX*4), SI

loop:
	SUBQ $12, SI
	SUBQ $4, DI
	STATE(1, blockWriter_offsets, R13)
	STATE(2, blockWriter_matches, R14)
	STATE(0, blockWriter_lengths, R12)
	MOVL sequence_literals(SI), DX
	EXTRA(0, blockWriter_literalBits)
	FLUSH
	MOVL sequence_match(SI), DX
	SUBQ $3, DX
	EXTRA(2, blockWriter_matchBits)
	MOVL sequence_offset(SI), DX
	MOVBLZX 1(DI), CX
	RORQ CX, DX
	ADD
	FLUSH
	DECQ R15
	JNE  loop

done:
	MOVQ s+8(FP), AX
	MOVQ states+32(FP), BX
	MOVQ R8, stream_acc(AX)
	MOVQ R9, stream_n(AX)
	MOVQ R10, stream_to(AX)
	MOVQ R12, 0(BX)
	MOVQ R13, 8(BX)
	MOVQ R14, 16(BX)
	RET
