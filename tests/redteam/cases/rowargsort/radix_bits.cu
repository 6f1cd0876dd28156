// Sorts every row by value and tells where each element came from. Floats are put in the total order of their
// bits (-NaN < -inf < ... < -0 < +0 < ... < inf < NaN); equal elements keep their order.

__device__ __forceinline__ unsigned ordered(float v)
{
    const unsigned u = __float_as_uint(v);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}

extern "C" __global__ void rowargsort(const float* key, float* sorted, int* origin, int rows, int len)
{
    const int row = blockIdx.x;
    if (row >= rows) return;
    __shared__ unsigned word[2][1024];
    __shared__ unsigned short from[2][1024];
    __shared__ int per_warp[8];
    const float* k = key + (size_t)row * len;
    if (len > 1024) {
        for (int i = threadIdx.x; i < len; i += 256) {
            const unsigned mine = ordered(k[i]);
            int rank = 0;
            for (int j = 0; j < len; ++j) {
                const unsigned other = ordered(k[j]);
                rank += other < mine || (other == mine && j < i);
            }
            sorted[(size_t)row * len + rank] = k[i];
            origin[(size_t)row * len + rank] = i;
        }
        return;
    }
    // thread t owns the places 4t .. 4t+3
    unsigned any = 0, all = 0xffffffffu;
    for (int i = threadIdx.x; i < len; i += 256) {
        const unsigned u = ordered(k[i]);
        word[0][i] = u;
        from[0][i] = (unsigned short)i;
    }
    __syncthreads();
    for (int i = 0; i < len; ++i) {
        any |= word[0][i];
        all &= word[0][i];
    }
    const unsigned differ = any & ~all;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int now = 0;
    for (int bit = 0; bit < 32; ++bit) {
        if (!((differ >> bit) & 1u)) continue;
        int zeros = 0;
        for (int e = 0; e < 4; ++e) {
            const int i = 4 * threadIdx.x + e;
            zeros += i < len && !((word[now][i] >> bit) & 1u);
        }
        int before = zeros;
        for (int step = 1; step < 32; step <<= 1) {
            const int lower = __shfl_up_sync(0xffffffffu, before, step);
            if (lane >= step) before += lower;
        }
        if (lane == 31) per_warp[warp] = before;
        __syncthreads();
        int total = 0;
        before -= zeros;
        for (int v = 0; v < 8; ++v) {
            if (v < warp) before += per_warp[v];
            total += per_warp[v];
        }
        for (int e = 0; e < 4; ++e) {
            const int i = 4 * threadIdx.x + e;
            if (i < len) {
                const unsigned u = word[now][i];
                const bool one = (u >> bit) & 1u;
                const int to = one ? total + i - before : before;
                before += !one;
                word[now ^ 1][to] = u;
                from[now ^ 1][to] = from[now][i];
            }
        }
        now ^= 1;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < len; i += 256) {
        const int j = from[now][i];
        sorted[(size_t)row * len + i] = k[j];
        origin[(size_t)row * len + i] = j;
    }
}
