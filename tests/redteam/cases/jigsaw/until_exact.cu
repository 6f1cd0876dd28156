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
    int best = 64, who = -1;
    for (int base = 0; base < sides; base += kTile) {
        if (__syncthreads_and(i >= sides || best == 0)) break;
        if (base + (int)threadIdx.x < sides) tile[threadIdx.x] = wanted[base + threadIdx.x];
        __syncthreads();
        int many = min(kTile, sides - base);
        for (int k = 0; k < many && best > 0; ++k) {
            int d = __popc(mine ^ tile[k]);
            if (d < best && ((base + k) >> 2) != (i >> 2)) {
                best = d;
                who = base + k;
            }
        }
    }
    if (i < sides) {
        partner[i] = who;
        gap[i] = who < 0 ? -1 : best;
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
