// Stacking energy of every stretch of k letters: the pairs, both ends, and a term for its own reverse complement.
#include <cuda_runtime.h>

__global__ void energies(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    float pairs = 0.0f;
    if (i < n)
        for (int j = 0; j + 1 < k; j++) pairs += stack[seq[i + j] * 4 + seq[i + j + 1]];
    for (int end = min(i + 16, n); i < end; i++) {       // on to the next: one pair comes, one goes
    const unsigned char* s = seq + i;
    float sum = pairs;
    bool mirrored = true;
    for (int j = 0; j < k; j++) mirrored = mirrored && s[j] + s[k - 1 - j] == 3;      // A C G T are 0 to 3
    sum += ends[s[0]] + ends[s[k - 1]];
    if (mirrored) sum += ends[4];
    out[i] = sum;
    if (k > 1 && i + 1 < end) pairs += stack[s[k - 1] * 4 + s[k]] - stack[s[0] * 4 + s[1]];
    }
}

void oligo(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    energies<<<(n + 2047) / 2048, 128>>>(seq, stack, ends, out, n, k);
}
