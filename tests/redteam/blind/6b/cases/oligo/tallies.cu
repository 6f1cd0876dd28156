// Stacking energy of every stretch of k letters: the pairs, both ends, and a term for its own reverse complement.
#include <cuda_runtime.h>

__global__ void energies(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* s = seq + i;
    float sum = 0.0f;
    unsigned tally[8] = {};                             // how often each pair occurs, two in a word
    for (int j = 0; j + 1 < k; j++) {
        int pair = s[j] * 4 + s[j + 1];
        unsigned one = 1u << pair % 2 * 16;
#pragma unroll
        for (int q = 0; q < 8; q++) tally[q] += q == pair / 2 ? one : 0u;
    }
#pragma unroll
    for (int pair = 0; pair < 16; pair++) {
        unsigned times = tally[pair / 2] >> pair % 2 * 16 & 0xffffu;
        if (times) sum += times * stack[pair];
    }
    bool mirrored = true;
    for (int j = 0; j < k; j++) mirrored = mirrored && s[j] + s[k - 1 - j] == 3;      // A C G T are 0 to 3
    sum += ends[s[0]] + ends[s[k - 1]];
    if (mirrored) sum += ends[4];
    out[i] = sum;
}

void oligo(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    energies<<<(n + 127) / 128, 128>>>(seq, stack, ends, out, n, k);
}
