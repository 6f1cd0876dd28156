// Stacking energy of every stretch of k letters: the pairs, both ends, and a term for its own reverse complement.
#include <cuda_runtime.h>

__global__ void energies(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* s = seq + i;
    float sum = 0.0f;
    for (int j = 0; j + 1 < k; j++) sum += stack[s[j] * 4 + s[j + 1]];
    bool mirrored = k % 2 == 0;                          // a letter in the middle is never its own partner
    for (int j = 0; mirrored && j < k / 2; j++) mirrored = s[j] + s[k - 1 - j] == 3;      // A C G T are 0 to 3
    sum += ends[s[0]] + ends[s[k - 1]];
    if (mirrored) sum += ends[4];
    out[i] = sum;
}

void oligo(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    energies<<<(n + 127) / 128, 128>>>(seq, stack, ends, out, n, k);
}
