// Spins on a torus that cools down, one colour of the board after the other: `ising WIDTH HEIGHT SWEEPS`.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__device__ unsigned drawn(unsigned site, unsigned sweep) {
    unsigned h = site * 0x9e3779b1u ^ (sweep + 1u) * 0x85ebca77u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return h ^ h >> 15;
}

// A spin turns where that costs nothing, and at random where it costs: `two` and `four` of 2^32 times.
__global__ void turned(signed char* spin, int w, int h, int colour, unsigned sweep, unsigned two, unsigned four) {
    // The block's part of the board with one more on each side, fetched in order.
    __shared__ signed char part[10][34];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, t = threadIdx.y * 32 + threadIdx.x;
    for (int k = t; k < 340; k += 256) {
        int r = (y0 + k / 34 + h - 1) % h, c = (x0 + k % 34 + w - 1) % w;
        part[k / 34][k % 34] = spin[r * w + c];
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= w || y >= h || (x + y) % 2 != colour) return;
    const signed char* at = &part[threadIdx.y + 1][threadIdx.x + 1];
    int cost = at[0] * (at[-1] + at[1] + at[-34] + at[34]);
    if (cost <= 0 || drawn(y * w + x, sweep) < (cost == 2 ? two : four)) spin[y * w + x] = -at[0];
}

__global__ void summed(const signed char* spin, int n, int* sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = __reduce_add_sync(0xffffffffu, i < n ? spin[i] : 0);
    if (threadIdx.x % 32 == 0 && mine) atomicAdd(sum, mine);
}

int main(int argc, char** argv) {
    // An even board, so that neighbours across the border have different colours.
    int w = (argc > 1 ? atoi(argv[1]) : 256) / 2 * 2, h = (argc > 2 ? atoi(argv[2]) : 256) / 2 * 2;
    int sweeps = argc > 3 ? atoi(argv[3]) : 20, n = w * h, sum = 0;
    std::vector<signed char> board(n);
    unsigned state = 1;
    for (signed char& s : board) s = (state = state * 1664525u + 1013904223u) >> 31 ? 1 : -1;
    signed char* spin;
    int* all;
    cudaMalloc(&spin, n);
    cudaMalloc(&all, sizeof(int));
    cudaMemcpy(spin, board.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(all, 0, sizeof(int));
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    for (int s = 0; s < sweeps; ++s) {
        double warmth = 4.0 - 3.0 * s / sweeps;
        unsigned two = (unsigned)(std::exp(-4.0 / warmth) * 4294967295.0);
        unsigned four = (unsigned)(std::exp(-8.0 / warmth) * 4294967295.0);
        for (int colour = 0; colour < 2; ++colour)
            turned<<<grid, block>>>(spin, w, h, colour, s, two, four);
    }
    summed<<<(n + 255) / 256, 256>>>(spin, n, all);
    cudaMemcpy(board.data(), spin, n, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum, all, sizeof(int), cudaMemcpyDeviceToHost);
    int first = 0;
    while (first < n && board[first] == board[0]) ++first;
    printf("%d spins add to %d, the first %d are alike\n", n, sum, first);
    cudaFree(spin);
    cudaFree(all);
    return 0;
}
