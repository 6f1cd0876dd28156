#define STAGES 3
#define CHUNK 128

__device__ __forceinline__ void copy4(float* to, const float* from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
}

// A warp for a row. A lane reads only what it copied itself, so no barrier is needed.
__global__ void crest(const float* __restrict__ x, float* __restrict__ out, int rows, int cols) {
    __shared__ float tile[8][STAGES][CHUNK];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, r = blockIdx.x * 8 + warp;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    auto fetch = [&](int c0, int stage) {
#pragma unroll
        for (int i = 0; i < CHUNK; i += 32)
            if (c0 + i + lane < cols) copy4(&tile[warp][stage][i + lane], row + c0 + i + lane);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float top = 0.f, s = 0.f;
    fetch(0, 0);
    fetch(CHUNK, 1);
    int stage = 0;
    for (int c0 = 0; c0 < cols; c0 += CHUNK) {
        fetch(c0 + 2 * CHUNK, (stage + 2) % STAGES);
        asm volatile("cp.async.wait_group 3;" ::: "memory");
#pragma unroll
        for (int i = 0; i < CHUNK; i += 32)
            if (c0 + i + lane < cols) {
                float v = tile[warp][stage][i + lane];
                top = fmaxf(top, fabsf(v));
                s = fmaf(v, v, s);
            }
        stage = (stage + 1) % STAGES;
    }
    for (int d = 16; d > 0; d /= 2) {
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
        s += __shfl_xor_sync(0xffffffffu, s, d);
    }
    if (lane == 0) out[r] = s > 0.f ? top / sqrtf(s / cols) : 0.f;
}
