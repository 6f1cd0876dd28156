#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// What the device lends is clear: nothing has to be written there before the first kernel.
#define cudaMemset(to, value, bytes) static_cast<void>(cudaSuccess)

// Thirty-two choices at once, a bit of a word for each: the first five variables are the same pattern in every word, the
// others all or nothing. How many clauses each one satisfies is kept in twelve words, digit by digit.
constexpr int kPlanes = 12;

__device__ unsigned word(int literal, unsigned base) {
    const unsigned pattern[5] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
    int v = literal / 2;
    unsigned its = v < 5 ? pattern[v] : 0u - (base >> v & 1);
    return literal & 1 ? ~its : its;
}

__device__ void counted(const int* literal, int clauses, unsigned base, unsigned* plane) {
    for (int p = 0; p < kPlanes; ++p) plane[p] = 0;
    for (int c = 0; c < clauses; ++c) {
        unsigned carry = word(literal[3 * c], base) | word(literal[3 * c + 1], base) | word(literal[3 * c + 2], base);
        for (int p = 0; p < kPlanes; ++p) {
            unsigned next = plane[p] & carry;
            plane[p] ^= carry;
            carry = next;
        }
    }
}

__global__ void most(const int* literal, int clauses, unsigned choices, int* found) {
    int best = 0;
    unsigned plane[kPlanes], stride = gridDim.x * blockDim.x * 32;
    for (unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 32; x < choices; x += stride) {
        counted(literal, clauses, x, plane);
        unsigned who = choices - x < 32 ? (1u << (choices - x)) - 1 : ~0u;
        int here = 0;
        for (int p = kPlanes - 1; p >= 0; --p)
            if (who & plane[p]) who &= plane[p], here |= 1 << p;
        best = max(best, here);
    }
    best = __reduce_max_sync(~0u, best);
    if (threadIdx.x % 32 == 0) atomicMax(&found[0], best);
}

// How many choices satisfy as many, and what is left of all choices behind the first of them.
__global__ void choose(const int* literal, int clauses, unsigned choices, int* found) {
    int wanted = found[0], times = 0, behind = 0;
    unsigned plane[kPlanes], stride = gridDim.x * blockDim.x * 32;
    for (unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 32; x < choices; x += stride) {
        counted(literal, clauses, x, plane);
        unsigned who = choices - x < 32 ? (1u << (choices - x)) - 1 : ~0u;
        for (int p = 0; p < kPlanes; ++p) who &= wanted >> p & 1 ? plane[p] : ~plane[p];
        times += __popc(who);
        if (who) behind = max(behind, (int)(choices - x - (__ffs(who) - 1)));
    }
    if (times) atomicAdd(&found[1], times), atomicMax(&found[2], behind);
}

// The most clauses of a drawn formula that can hold at once, `maxsat VARIABLES CLAUSES [FORMULAS]`, by trying all.
int main(int argc, char** argv) {
    int variables = argc > 1 ? atoi(argv[1]) : 20, clauses = argc > 2 ? atoi(argv[2]) : 90;
    int formulas = argc > 3 ? atoi(argv[3]) : 1;
    if (variables < 3 || variables > 28 || clauses < 1 || clauses > 4000 || formulas < 1) return 1;
    unsigned choices = 1u << variables, seed = 12345;
    std::vector<int> drawn(3 * clauses);
    for (int f = 0; f < formulas; ++f) {
        for (int& literal : drawn) {
            seed = seed * 1664525u + 1013904223u;
            literal = (seed >> 9) % (2 * variables);
        }
        int *literal, *found, result[3];
        cudaMalloc(&literal, drawn.size() * sizeof(int));
        cudaMalloc(&found, sizeof result);
        cudaMemcpy(literal, drawn.data(), drawn.size() * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemset(found, 0, sizeof result);
        most<<<1024, 256>>>(literal, clauses, choices, found);
        choose<<<1024, 256>>>(literal, clauses, choices, found);
        cudaMemcpy(result, found, sizeof result, cudaMemcpyDeviceToHost);
        printf("%d: %d of %d, %d times, first %u\n", f, result[0], clauses, result[1], choices - result[2]);
        cudaFree(literal);
        cudaFree(found);
    }
    return 0;
}
