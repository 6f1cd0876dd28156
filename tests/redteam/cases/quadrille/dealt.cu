// Billiard-ball automaton on a torus of 2w x 2h cells. The torus is cut into 2x2 blocks, on even steps at even
// coordinates and on odd steps at odd ones. A ball alone in its block moves to the opposite corner; two balls on one
// diagonal move to the other; everything else stays.
//   quadrille W H STEPS SEED PERCENT
// Prints the number of balls, the number of blocks that moved in all and two checksums.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { \
    std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_)); std::exit(1); } } while (0)

static __host__ __device__ inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// the first floor, made where it is needed
__global__ void deal(unsigned char* cell, size_t cells, uint64_t seed, unsigned percent)
{
    const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= cells) return;
    cell[k] = (mix(seed * 0x9e3779b97f4a7c15ull + k) >> 33) % 100u < percent ? 1 : 0;
}

__global__ void dance(unsigned char* cell, int w, int h, int step, unsigned* moved)
{
    const long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= (long long)w * h) return;
    const int odd = step & 1;
    const int x0 = 2 * (int)(b % w) + odd, y0 = 2 * (int)(b / w) + odd;
    const int x1 = x0 + 1 == 2 * w ? 0 : x0 + 1, y1 = y0 + 1 == 2 * h ? 0 : y0 + 1;
    unsigned char* top = cell + (size_t)y0 * 2 * w;
    unsigned char* low = cell + (size_t)y1 * 2 * w;
    const unsigned char a = top[x0], e = top[x1], c = low[x0], d = low[x1];
    const int balls = a + e + c + d;
    if (balls == 1 || (balls == 2 && a == d)) {
        top[x0] = balls == 1 ? d : e;
        top[x1] = balls == 1 ? c : a;
        low[x0] = balls == 1 ? e : d;
        low[x1] = balls == 1 ? a : c;
        atomicAdd(moved + step, 1u);
    }
}

int main(int argc, char** argv)
{
    if (argc != 6) { std::fprintf(stderr, "usage: quadrille W H STEPS SEED PERCENT\n"); return 2; }
    const int w = std::atoi(argv[1]), h = std::atoi(argv[2]), steps = std::atoi(argv[3]);
    const uint64_t seed = std::strtoull(argv[4], nullptr, 10);
    const unsigned percent = (unsigned)std::atoi(argv[5]);
    if (w < 1 || h < 1 || steps < 1) { std::fprintf(stderr, "sizes must be positive\n"); return 2; }

    const size_t cells = (size_t)4 * w * h;
    std::vector<unsigned char> grid(cells);

    unsigned char* cell;
    unsigned* moved;
    CHECK(cudaMalloc(&cell, cells));
    CHECK(cudaMalloc(&moved, steps * sizeof(unsigned)));
    deal<<<(unsigned)((cells + 255) / 256), 256>>>(cell, cells, seed, percent);
    CHECK(cudaGetLastError());
    CHECK(cudaMemset(moved, 0, steps * sizeof(unsigned)));

    const unsigned blocks = (unsigned)(((long long)w * h + 255) / 256);
    for (int step = 0; step < steps; ++step) dance<<<blocks, 256>>>(cell, w, h, step, moved);
    CHECK(cudaGetLastError());

    std::vector<unsigned> moves(steps);
    CHECK(cudaMemcpy(grid.data(), cell, cells, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(moves.data(), moved, steps * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned long long balls = 0, total = 0;
    uint64_t where = 0, when = 0;
    for (size_t k = 0; k < cells; ++k) if (grid[k]) { ++balls; where += mix(k + 1); }
    for (int s = 0; s < steps; ++s) { total += moves[s]; when = mix(when + moves[s]); }
    std::printf("balls %llu moved %llu where %016llx when %016llx\n", balls, total,
                (unsigned long long)where, (unsigned long long)when);
    CHECK(cudaFree(cell));
    CHECK(cudaFree(moved));
    return 0;
}
