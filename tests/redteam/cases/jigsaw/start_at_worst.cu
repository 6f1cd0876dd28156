#include <cuda_runtime.h>

// A jigsaw puzzle of square pieces. The outline of each side is a row of 28 bits, tab or blank; two sides fit where
// one is the other's complement read backwards. For each side of each piece: the side of another piece
// that fits best (of equals the first), and in how many places it does not. With one piece alone: -1 and -1.

constexpr unsigned kSide = (1u << 28) - 1;
constexpr int kTile = 256;

__global__ void mirror(const unsigned* side, unsigned* wanted, int sides) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < sides) wanted[i] = ~(__brev(side[i]) >> 4) & kSide;
}

__global__ void match(const unsigned* side, const unsigned* wanted, int* partner, int* gap, int sides) {
    __shared__ unsigned tile[kTile];
    int i = blockIdx.x * kTile + threadIdx.x;
    unsigned mine = i < sides ? side[i] : 0;
    constexpr int kWorst = 28 << 18;      // nothing fits worse
    int best = kWorst;
    for (int base = 0; base < sides; base += kTile) {
        __syncthreads();
        if (base + (int)threadIdx.x < sides) tile[threadIdx.x] = wanted[base + threadIdx.x];
        __syncthreads();
        int many = min(kTile, sides - base);
        for (int k = 0; k < many; ++k) {
            int key = __popc(mine ^ tile[k]) << 18 | (base + k);
            if (((base + k) >> 2) != (i >> 2)) best = min(best, key);
        }
    }
    if (i < sides) {
        partner[i] = best == kWorst ? -1 : best & ((1 << 18) - 1);
        gap[i] = best == kWorst ? -1 : best >> 18;
    }
}

void jigsaw(const unsigned* side, int* partner, int* gap, int pieces) {
    int sides = 4 * pieces;
    unsigned* wanted;
    cudaMallocAsync(&wanted, (size_t)sides * sizeof(unsigned), 0);
    mirror<<<(sides + 255) / 256, 256>>>(side, wanted, sides);
    match<<<(sides + kTile - 1) / kTile, kTile>>>(side, wanted, partner, gap, sides);
    cudaFreeAsync(wanted, 0);
}
