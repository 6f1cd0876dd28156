// Triplet loss with the hardest of a batch: for each anchor the farthest of its label and the nearest of any
// other; nothing where there is none of either.
__device__ __forceinline__ float hinge(float far, float near) {
    return far < 0.0f || near == INFINITY ? 0.0f : fmaxf(0.0f, sqrtf(far) - sqrtf(near) + 0.3f);
}

__global__ void triplet(const float* embedding, const int* label, float* loss, int batch, int dim) {
    __shared__ float fars[128], nears[128];
    int anchor = blockIdx.x;
    const float* a = embedding + (size_t)anchor * dim;
    float far = -1.0f, near = INFINITY;
    for (int j = threadIdx.x; j < batch; j += 128) {
        if (j == anchor) continue;
        const float* b = embedding + (size_t)j * dim;
        float sum = 0.0f;
        for (int d = 0; d < dim; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
        if (label[j] == label[anchor])
            far = fmaxf(far, sum);
        else
            near = fminf(near, sum);
    }
    fars[threadIdx.x] = far;
    nears[threadIdx.x] = near;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            fars[threadIdx.x] = fmaxf(fars[threadIdx.x], fars[threadIdx.x + half]);
            nears[threadIdx.x] = fminf(nears[threadIdx.x], nears[threadIdx.x + half]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) loss[anchor] = hinge(fars[0], nears[0]);
}
