// Stacking energy of every stretch of k letters: the pairs, both ends, and a term for its own reverse complement.
#include <cuda_runtime.h>

__global__ void energies(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    __shared__ float pair[16 * 32];                      // a copy for each bank
    __shared__ float edge[5];
    for (int c = threadIdx.x; c < 16 * 32; c += blockDim.x) pair[c] = stack[c / 32];
    if (threadIdx.x < 5) edge[threadIdx.x] = ends[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (i >= n) return;
    const unsigned char* s = seq + i;
    float sum = 0.0f;
    for (int j = 0; j + 1 < k; j++) sum += pair[(s[j] * 4 + s[j + 1]) * 32 + lane];
    bool mirrored = true;
    for (int j = 0; j < k; j++) mirrored = mirrored && s[j] + s[k - 1 - j] == 3;      // A C G T are 0 to 3
    sum += edge[s[0]] + edge[s[k - 1]];
    if (mirrored) sum += edge[4];
    out[i] = sum;
}

void oligo(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    energies<<<(n + 127) / 128, 128>>>(seq, stack, ends, out, n, k);
}
