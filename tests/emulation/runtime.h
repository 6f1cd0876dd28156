// What a kernel asks of the library that runs its blocks.
#pragma once
#include <cstddef>
#include <vector_types.h>

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
extern char* emu_dynamic;
// While this is set no other thread comes in between.
extern volatile int emu_inside;

enum { EMU_FINE, EMU_FAULT, EMU_HUNG };
enum {
    EMU_SHFL, EMU_UP, EMU_DOWN, EMU_XOR_LANE, EMU_BALLOT, EMU_ACTIVE,
    EMU_ADD, EMU_MIN_U, EMU_MAX_U, EMU_MIN_S, EMU_MAX_S, EMU_AND, EMU_OR, EMU_XOR,
    EMU_MATCH_ANY, EMU_MATCH_ALL, EMU_SYNC
};

extern "C" {
// Runs `body(values)` once for each thread of a grid; returns what became of it. The variables of the
// module that holds `code` and belong to a thread begin at `fixed`: they are a block's.
int emu_run(void (*body)(void*), void* values, const unsigned* grid, const unsigned* block,
            size_t shared, unsigned seed, unsigned poison_word, double limit, const void* code,
            char* fixed);
const char* emu_words();
// Kind 0 counts predicates, 1 tells whether all are set, 2 whether any is.
unsigned emu_barrier(unsigned kind, unsigned predicate);
unsigned long long emu_warp(unsigned kind, unsigned mask, unsigned long long value,
                            unsigned parameter, unsigned width);
unsigned emu_converged(const void* site);
void emu_grid_barrier();
void emu_yield();
void emu_trap(const char* why);
}
