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

constexpr int kBits = 27;

__global__ void match(const unsigned* side, const unsigned* wanted, unsigned* key, int sides) {
    __shared__ unsigned tile[kTile], found[kTile];
    if (blockIdx.y > blockIdx.x) return;
    int i = blockIdx.y * kTile + threadIdx.x, base = blockIdx.x * kTile;
    unsigned mine = i < sides ? side[i] : 0;
    if (base + (int)threadIdx.x < sides) tile[threadIdx.x] = wanted[base + threadIdx.x];
    found[threadIdx.x] = ~0u;
    __syncthreads();
    unsigned best = ~0u;
    if (i < sides)
        for (int r = 0; r < kTile; ++r) {
            int k = (r + threadIdx.x) & (kTile - 1), j = base + k;
            if (j >= sides || j >> 2 == i >> 2) continue;
            unsigned d = (unsigned)__popc(mine ^ tile[k]) << kBits;
            best = min(best, d | (unsigned)j);
            atomicMin(&found[k], d | (unsigned)i);
        }
    __syncthreads();
    if (i < sides && best != ~0u) atomicMin(&key[i], best);
    if (blockIdx.y < blockIdx.x && base + (int)threadIdx.x < sides && found[threadIdx.x] != ~0u)
        atomicMin(&key[base + threadIdx.x], found[threadIdx.x]);
}

__global__ void unpack(const unsigned* key, int* partner, int* gap, int sides) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sides) return;
    unsigned k = key[i];
    partner[i] = k == ~0u ? -1 : (int)(k & ((1u << kBits) - 1));
    gap[i] = k == ~0u ? -1 : (int)(k >> kBits);
}

void jigsaw(const unsigned* side, int* partner, int* gap, int pieces) {
    int sides = 4 * pieces;
    unsigned* wanted;
    unsigned* key;
    cudaMallocAsync(&key, (size_t)sides * sizeof(unsigned), 0);
    cudaMemsetAsync(key, 0xff, (size_t)sides * sizeof(unsigned), 0);
    cudaMallocAsync(&wanted, (size_t)sides * sizeof(unsigned), 0);
    mirror<<<(sides + 255) / 256, 256>>>(side, wanted, sides);
    match<<<dim3((sides + kTile - 1) / kTile, (sides + kTile - 1) / kTile), kTile>>>(side, wanted, key, sides);
    unpack<<<(sides + 255) / 256, 256>>>(key, partner, gap, sides);
    cudaFreeAsync(wanted, 0);
    cudaFreeAsync(key, 0);
}
