// Stacking energy of every stretch of k letters: the pairs, both ends, and a term for its own reverse complement.
#include <cuda_runtime.h>

__global__ void energies(const unsigned char* seq, const float* stack, const float* ends, float* out, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* s = seq + i;
    float sum = 0.0f, part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int before = s[0];
    int j = 1;
    for (; j + 3 < k; j += 4)
#pragma unroll
        for (int u = 0; u < 4; u++) {
            int letter = s[j + u];
            part[u] += stack[before << 2 | letter];
            before = letter;
        }
    for (; j < k; j++) {
        sum += stack[before << 2 | s[j]];
        before = s[j];
    }
    sum += (part[0] + part[1]) + (part[2] + part[3]);
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
