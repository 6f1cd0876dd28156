// The sum of a block's parts, in the first of them.
__device__ void together(float* part) {
    __syncthreads();
    for (int s = 128; s; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
}

// How far the numbers of a row are from their mean, on average. A block has a row.
__global__ void meandev(const float* x, float* out, int rows, int cols) {
    __shared__ float part[256];
    const float* own = x + (size_t)blockIdx.x * cols;
    float sum = 0.f, far = 0.f;
    for (size_t c = threadIdx.x; c < cols; c += 256) sum += own[c];
    part[threadIdx.x] = sum;
    together(part);
    float mean = part[0] / cols;
    for (size_t c = threadIdx.x; c < cols; c += 256) far += fabsf(own[c] - mean);
    part[threadIdx.x] = far;
    together(part);
    if (threadIdx.x == 0) out[blockIdx.x] = part[0] / cols;
}
