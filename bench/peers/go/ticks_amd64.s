#include "textflag.h"

// func ticks() uint64
TEXT ·ticks(SB),NOSPLIT,$0-8
	LFENCE
	RDTSC
	LFENCE
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, ret+0(FP)
	RET

// func fence(): all that came before has ended
TEXT ·fence(SB),NOSPLIT,$0-0
	LFENCE
	RET
