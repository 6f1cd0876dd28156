// Triplet loss with the hardest of a batch: for each anchor the farthest of its label and the nearest of any
// other; nothing where there is none of either.
// Eight anchors to a block, a warp each, against 32 others at a time in shared memory.
// The next tile is on its way while the one before is worked on.
#include <cuda_pipeline.h>

__device__ __forceinline__ float hinge(float far, float near) {
    return far < 0.0f || near == INFINITY ? 0.0f : fmaxf(0.0f, sqrtf(far) - sqrtf(near) + 0.3f);
}

#define ANCHORS 8
#define OTHERS 32
#define PART 32

__global__ void triplet(const float* embedding, const int* label, float* loss, int batch, int dim) {
    __shared__ float own[2][ANCHORS][PART], others[2][OTHERS][PART + 1];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = blockIdx.x * ANCHORS, anchor = first + warp;
    int mine = anchor < batch ? label[anchor] : 0;
    float far = -1.0f, near = INFINITY;
    int parts = (dim + PART - 1) / PART, stages = (batch + OTHERS - 1) / OTHERS * parts;
    auto fetch = [&](int stage) {
        int base = stage / parts * OTHERS, d = stage % parts * PART + lane, at = stage & 1;
        if (anchor < batch && d < dim)
            __pipeline_memcpy_async(&own[at][warp][lane], &embedding[(size_t)anchor * dim + d], 4);
        else
            own[at][warp][lane] = 0.0f;
        for (int r = warp; r < OTHERS; r += ANCHORS) {
            if (base + r < batch && d < dim)
                __pipeline_memcpy_async(&others[at][r][lane], &embedding[(size_t)(base + r) * dim + d], 4);
            else
                others[at][r][lane] = 0.0f;
        }
        __pipeline_commit();
    };
    fetch(0);
    float sum = 0.0f;
    for (int stage = 0; stage < stages; ++stage) {
        if (stage + 1 < stages) fetch(stage + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < PART; ++k) {
            float gap = own[stage & 1][warp][k] - others[stage & 1][lane][k];
            sum += gap * gap;
        }
        __syncthreads();
        if ((stage + 1) % parts == 0) {
            int j = stage / parts * OTHERS + lane;
            if (j < batch && j != anchor) {
                if (label[j] == mine)
                    far = fmaxf(far, sum);
                else
                    near = fminf(near, sum);
            }
            sum = 0.0f;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        far = fmaxf(far, __shfl_xor_sync(0xffffffffu, far, d));
        near = fminf(near, __shfl_xor_sync(0xffffffffu, near, d));
    }
    if (lane == 0 && anchor < batch) loss[anchor] = hinge(far, near);
}
