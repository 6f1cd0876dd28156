// Triplet loss with the hardest of a batch: for each anchor the farthest of its label and the nearest of any
// other; nothing where there is none of either.
// Eight anchors to a block, a warp each, against 32 others at a time in shared memory.
__device__ __forceinline__ float hinge(float far, float near) {
    return far < 0.0f || near == INFINITY ? 0.0f : fmaxf(0.0f, sqrtf(far) - sqrtf(near) + 0.3f);
}

#define ANCHORS 8
#define OTHERS 32
#define PART 32

__global__ void triplet(const float* embedding, const int* label, float* loss, int batch, int dim) {
    __shared__ float own[ANCHORS][PART], others[OTHERS][PART + 1];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = blockIdx.x * ANCHORS, anchor = first + warp;
    int mine = anchor < batch ? label[anchor] : 0;
    float far = -1.0f, near = INFINITY;
    for (int base = 0; base < batch; base += OTHERS) {
        float sum = 0.0f;
        for (int part = 0; part < dim; part += PART) {
            __syncthreads();
            int d = part + lane;
            own[warp][lane] = anchor < batch && d < dim ? embedding[(size_t)anchor * dim + d] : 0.0f;
            for (int r = warp; r < OTHERS; r += ANCHORS)
                others[r][lane] = base + r < batch && d < dim ? embedding[(size_t)(base + r) * dim + d] : 0.0f;
            __syncthreads();
#pragma unroll
            for (int k = 0; k < PART; ++k) {
                float gap = own[warp][k] - others[lane][k];
                sum += gap * gap;
            }
        }
        int j = base + lane;
        if (j < batch && j != anchor) {
            if (label[j] == mine)
                far = fmaxf(far, sum);
            else
                near = fminf(near, sum);
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        far = fmaxf(far, __shfl_xor_sync(0xffffffffu, far, d));
        near = fminf(near, __shfl_xor_sync(0xffffffffu, near, d));
    }
    if (lane == 0 && anchor < batch) loss[anchor] = hinge(far, near);
}
