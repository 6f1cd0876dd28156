// 64 synapses a block, two warps; tiles of 32 steps come in with coalesced loads, one barrier a tile.
#include <cuda_runtime.h>
#include <cstdint>

#define ROWS 64
#define TILE 32

__global__ void synapse(const uint8_t* pre, const uint8_t* post, float* potentiation, float* depression,
                        int synapses, int steps, float decay)
{
    __shared__ uint8_t ta_[ROWS][TILE + 4], tb_[ROWS][TILE + 4];
    int s0 = blockIdx.x * ROWS;
    int r = threadIdx.x;
    decay = fminf(fmaxf(decay, 0.0f), 0.99f);
    float ta = 0.0f, tb = 0.0f;
    double up = 0.0, down = 0.0;
    for (int t0 = 0; t0 < steps; t0 += TILE) {
        int len = steps - t0 < TILE ? steps - t0 : TILE;
        for (int i = threadIdx.x; i < ROWS * TILE; i += ROWS) {
            int row = i / TILE, col = i % TILE;
            bool inside = s0 + row < synapses && col < len;
            size_t at = (size_t)(s0 + row) * steps + t0 + col;
            ta_[row][col] = inside ? pre[at] : 0;
            tb_[row][col] = inside ? post[at] : 0;
        }
        __syncthreads();
        for (int k = 0; k < len; ++k) {
            ta *= decay;
            tb *= decay;
            float x = (float)ta_[r][k], y = (float)tb_[r][k];
            up += (double)(y * ta);
            down += (double)(x * tb);
            ta += x;
            tb += y;
        }
    }
    if (s0 + r < synapses) {
        potentiation[s0 + r] = (float)up;
        depression[s0 + r] = (float)down;
    }
}
