// One token through a layer whose weights have four bits, two to a byte, the lower one first; `group` columns of a row
// share a scale and a zero point.
__device__ void fetch(float* to, const float* from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
}

__global__ void skinny(const unsigned char* w, const float* scale, const float* zero, const float* x, float* y,
                       int rows, int cols, int group) {
    // A warp a row. The next 512 numbers of the token are on their way while the last ones are worked on.
    __shared__ float tile[2][512];
    int lane = threadIdx.x % 32, r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    bool some = r < rows;
    int bytes = (cols + 1) / 2, groups = (cols + group - 1) / group, tiles = (cols + 511) / 512;
    const unsigned char* own = w + (size_t)(some ? r : 0) * bytes;
    const float *factor = scale + (size_t)(some ? r : 0) * groups, *offset = zero + (size_t)(some ? r : 0) * groups;
    float sum = 0.f;
    for (int k = 0; k <= tiles; ++k) {
        if (k < tiles)
            for (int c = threadIdx.x; c < 512; c += blockDim.x)
                if (k * 512 + c < cols) fetch(&tile[k % 2][c], x + k * 512 + c);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (k == 0) continue;
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        const float* there = tile[(k - 1) % 2];
        int first = (k - 1) * 512, end = min(512, cols - first);
        if (some)
            for (int b = lane; 2 * b < end; b += 32) {
                int v = own[first / 2 + b], g = (first + 2 * b) / group;
                sum += factor[g] * ((v & 15) - offset[g]) * there[2 * b];
                if (2 * b + 1 < end) {
                    g = (first + 2 * b + 1) / group;
                    sum += factor[g] * ((v >> 4) - offset[g]) * there[2 * b + 1];
                }
            }
        __syncthreads();
    }
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (some && lane == 0) y[r] = sum;
}
