// Triplet loss with the hardest of a batch: for each anchor the farthest of its label and the nearest of any
// other; nothing where there is none of either.
// Four components at a time where rows begin on their boundaries; shuffles for the last steps. Distances are
// not negative: the farthest begins at zero.
__device__ __forceinline__ float hinge(float far, float near) {
    return far == 0.0f || near == INFINITY ? 0.0f : fmaxf(0.0f, sqrtf(far) - sqrtf(near) + 0.3f);
}

__device__ __forceinline__ float squared(float x) {
    return x * x;
}

__global__ void triplet(const float* embedding, const int* label, float* loss, int batch, int dim) {
    __shared__ float fars[4], nears[4];
    int anchor = blockIdx.x;
    const float* a = embedding + (size_t)anchor * dim;
    int own = label[anchor];
    bool whole = dim % 4 == 0 && ((size_t)embedding & 15) == 0;
    float far = 0.0f, near = INFINITY;
    for (int j = threadIdx.x; j < batch; j += 128) {
        if (j == anchor) continue;
        const float* b = embedding + (size_t)j * dim;
        float sum = 0.0f, other = 0.0f;
        if (whole) {
            for (int d = 0; d < dim; d += 4) {
                float4 p = *(const float4*)(a + d), q = *(const float4*)(b + d);
                sum += squared(p.x - q.x) + squared(p.y - q.y);
                other += squared(p.z - q.z) + squared(p.w - q.w);
            }
        } else {
            for (int d = 0; d < dim; ++d) sum += squared(a[d] - b[d]);
        }
        sum += other;
        bool positive = label[j] == own;
        far = fmaxf(far, positive ? sum : 0.0f);
        near = fminf(near, positive ? INFINITY : sum);
    }
    for (int d = 16; d > 0; d /= 2) {
        far = fmaxf(far, __shfl_xor_sync(0xffffffffu, far, d));
        near = fminf(near, __shfl_xor_sync(0xffffffffu, near, d));
    }
    if (threadIdx.x % 32 == 0) {
        fars[threadIdx.x / 32] = far;
        nears[threadIdx.x / 32] = near;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 4; ++k) {
            far = fmaxf(far, fars[k]);
            near = fminf(near, nears[k]);
        }
        loss[anchor] = hinge(far, near);
    }
}
