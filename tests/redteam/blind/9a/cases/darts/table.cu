#include <cuda_runtime.h>
#include <cstdint>

constexpr int kStart = 501;

// All 256 bytes in a shared table: score in bits 0-6, the double in bit 7.
__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    __shared__ uint8_t table[256];
    for (int v = threadIdx.x; v < 256; v += blockDim.x) {
        int segment = v & 31, ring = v >> 6;
        int face = segment < 21 ? segment : segment == 21 && ring < 3 ? 25 : 0;
        table[v] = (uint8_t)(face * ring | (ring == 2 ? 128 : 0));
    }
    __syncthreads();
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int before = kStart, remaining = kStart, used = 0, bust = 0, k = 0;
    for (int t = 0; t < n;) {
        int entry = table[in[t]];
        int after = remaining - (entry & 127);
        ++used;
        if (after < 2) {
            if (after == 0 && (entry & 128)) {
                remaining = 0;
                break;
            }
            ++bust;
            remaining = before;
            t += 3 - k;
            k = 0;
            continue;
        }
        remaining = after;
        ++t;
        if (++k == 3) {
            k = 0;
            before = remaining;
        }
    }
    thrown[player] = used;
    left[player] = remaining;
    busts[player] = bust;
}
