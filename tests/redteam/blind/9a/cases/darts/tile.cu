#include <cuda_runtime.h>
#include <cstdint>

constexpr int kStart = 501;

__device__ __forceinline__ int dart_score(unsigned dart)
{
    unsigned segment = dart & 31u;
    unsigned ring = dart >> 6;
    unsigned face = segment < 21u ? segment : (segment == 21u && ring != 3u ? 25u : 0u);
    return (int)(face * ring);
}

// Coalesced: a block stages 48 darts of its 128 players in shared memory, then every thread walks its own row of the tile.
constexpr int kTile = 48;

__device__ __forceinline__ const uint8_t* in_row(const uint8_t* all, int row, int n) { return all + (size_t)row * n; }

__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    __shared__ uint8_t tile[128][kTile + 4];
    int firstPlayer = blockIdx.x * 128;
    int here = min(128, players - firstPlayer);
    bool mine = (int)threadIdx.x < here;
    int remaining = kStart, used = 0, bust = 0;
    for (int t0 = 0; t0 < n; t0 += kTile) {
        int width = min(kTile, n - t0);
        for (int i = threadIdx.x; i < here * width; i += 128) {
            int row = i / width, col = i - row * width;
            tile[row][col] = in_row(darts_in, firstPlayer + row, n)[t0 + col];
        }
        __syncthreads();
        if (mine) {
            for (int visit = 0; visit < width && remaining > 0; visit += 3) {
                int before = remaining;
                for (int k = 0; k < 3 && visit + k < width; ++k) {
                    unsigned dart = tile[threadIdx.x][visit + k];
                    int after = remaining - dart_score(dart);
                    ++used;
                    if (after < 2) {
                        bool won = after == 0 && (dart >> 6) == 2u;
                        remaining = won ? 0 : before;
                        bust += !won;
                        break;
                    }
                    remaining = after;
                }
            }
        }
    }
    if (mine) {
        thrown[firstPlayer + threadIdx.x] = used;
        left[firstPlayer + threadIdx.x] = remaining;
        busts[firstPlayer + threadIdx.x] = bust;
    }
}
