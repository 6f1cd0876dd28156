// Every number of one list times every number of another.
__global__ void outer(const float* a, const float* b, float* y, int rows, int cols) {
    // One half is stored in bulk while the other is filled.
    __shared__ __align__(128) float half[2][1024];
    float f = a[blockIdx.x];
    float* to = y + (size_t)blockIdx.x * cols;
    int whole = (size_t)to % 16 ? 0 : cols / 1024 * 1024;
    for (int c = 0, k = 0; c < whole; c += 1024, k ^= 1) {
        for (int t = threadIdx.x; t < 1024; t += 256) half[k][t] = f * b[c + t];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                             __cvta_generic_to_global(to + c)),
                         "r"((unsigned)__cvta_generic_to_shared(half[k])), "r"(4096)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    for (int c = whole + threadIdx.x; c < cols; c += 256) to[c] = f * b[c];
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
