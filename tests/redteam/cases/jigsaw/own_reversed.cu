#include <cuda_runtime.h>

// A jigsaw puzzle of square pieces. The outline of each side is a row of 28 bits, tab or blank; two sides fit where
// one is the other's complement read backwards. For each side of each piece: the side of another piece
// that fits best (of equals the first), and in how many places it does not. With one piece alone: -1 and -1.

constexpr unsigned kSide = (1u << 28) - 1;
constexpr int kTile = 256;      // pieces

__global__ void match(const unsigned* side, int* partner, int* gap, int pieces) {
    __shared__ uint4 tile[kTile];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned wanted = i < 4 * pieces ? ~__brev(side[i] << 4) & kSide : 0;
    int best = 64, who = -1;
    for (int base = 0; base < pieces; base += kTile) {
        __syncthreads();
        if (base + (int)threadIdx.x < pieces) tile[threadIdx.x] = ((const uint4*)side)[base + threadIdx.x];
        __syncthreads();
        int many = min(kTile, pieces - base);
        for (int k = 0; k < many; ++k) {
            if (base + k == i >> 2) continue;
            uint4 s = tile[k];
            int a = __popc(wanted ^ s.x) << 2, b = __popc(wanted ^ s.y) << 2 | 1;
            int c = __popc(wanted ^ s.z) << 2 | 2, d = __popc(wanted ^ s.w) << 2 | 3;
            int least = min(min(a, b), min(c, d));
            if (least >> 2 < best) {
                best = least >> 2;
                who = 4 * (base + k) + (least & 3);
            }
        }
    }
    if (i < 4 * pieces) {
        partner[i] = who;
        gap[i] = who < 0 ? -1 : best;
    }
}

void jigsaw(const unsigned* side, int* partner, int* gap, int pieces) {
    match<<<(4 * pieces + kTile - 1) / kTile, kTile>>>(side, partner, gap, pieces);
}
