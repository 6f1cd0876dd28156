__device__ void copy4(float* to, const float* from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(from) : "memory");
}
__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    __shared__ float tile[2][32][33];
    int first = blockIdx.x * 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float s = 0.f;
    for (int c = 0, turn = 0; c < cols + 32; c += 32, turn ^= 1) {
        for (int k = warp; k < 32; k += 8)
            if (first + k < rows && c + lane < cols)
                copy4(&tile[turn][k][lane], x + (size_t)(first + k) * cols + c + lane);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (threadIdx.x < 32)
            for (int k = 0; c && k < 32; ++k)
                if (c - 32 + k < cols) s += tile[turn ^ 1][threadIdx.x][k];
        __syncthreads();
    }
    if (threadIdx.x < 32 && first + threadIdx.x < rows) out[first + threadIdx.x] = s;
}
