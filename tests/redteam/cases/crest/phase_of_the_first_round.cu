#define CHUNK 512

__device__ __forceinline__ unsigned place(const void* p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void wait(unsigned long long* bar, unsigned parity) {
    unsigned done;
    do {
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(place(bar)), "r"(parity)
                     : "memory");
    } while (!done);
}

// A block for a row. Whole chunks of a row that begins at 16 bytes come as bulk copies, two in
// flight; what is left, or a row that begins elsewhere, comes as single floats.
__global__ void crest(const float* __restrict__ x, float* __restrict__ out, int rows, int cols) {
    __shared__ __align__(128) float tile[2][CHUNK];
    __shared__ __align__(8) unsigned long long full[2];
    __shared__ float tops[4], sums[4];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    int whole = ((size_t)row & 15) == 0 ? cols / CHUNK : 0;
    if (t == 0) {
        for (int k = 0; k < 2; ++k)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[k]))
                         : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    auto fetch = [&](int c) {
        if (t != 0) return;
        unsigned bar = place(&full[c & 1]), to = place(tile[c & 1]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                     "r"(CHUNK * 4)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(to),
                     "l"(row + (size_t)c * CHUNK), "r"(CHUNK * 4), "r"(bar)
                     : "memory");
    };
    float top = 0.f, s = 0.f;
    if (whole > 0) fetch(0);
    for (int c = 0; c < whole; ++c) {
        if (c + 1 < whole) fetch(c + 1);
        wait(&full[c & 1], 0);
        for (int k = t; k < CHUNK; k += 128) {
            float v = tile[c & 1][k];
            top = fmaxf(top, fabsf(v));
            s = fmaf(v, v, s);
        }
        __syncthreads();
    }
    for (int c = whole * CHUNK + t; c < cols; c += 128) {
        float v = row[c];
        top = fmaxf(top, fabsf(v));
        s = fmaf(v, v, s);
    }
    for (int d = 16; d > 0; d /= 2) {
        top = fmaxf(top, __shfl_down_sync(0xffffffffu, top, d));
        s += __shfl_down_sync(0xffffffffu, s, d);
    }
    if (t % 32 == 0) {
        tops[t / 32] = top;
        sums[t / 32] = s;
    }
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 4; ++k) {
            top = fmaxf(top, tops[k]);
            s += sums[k];
        }
        out[blockIdx.x] = s > 0.f ? top / sqrtf(s / cols) : 0.f;
    }
}
