// Linear attention with the delta rule. A head keeps a matrix; each step takes from it what it held for the unit key,
// puts in the new value at a rate between 0 and 1, and reads it with the query. A block takes a head, and reads the
// query, key and value of the next step while it works on the present one.
extern "C" __global__ void __launch_bounds__(128)
    fastweights(const float* __restrict__ query, const float* __restrict__ key, const float* __restrict__ value,
              const float* __restrict__ rate, float* __restrict__ state, float* __restrict__ out, int steps, int dim) {
    extern __shared__ float room[];
    __shared__ float part[4];
    float* q = room;
    float* k = room + dim;
    int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* held = state + (size_t)head * dim * dim;
    bool one = dim <= 128, mine = threadIdx.x < dim;
    size_t start = (size_t)head * steps * dim;
    float nq = 0.0f, nk = 0.0f, nv = 0.0f;
    if (mine && steps > 0) {
        nq = query[start + threadIdx.x];
        nk = key[start + threadIdx.x];
        nv = value[start + threadIdx.x];
    }
    for (int t = 0; t < steps; ++t) {
        size_t at = start + (size_t)t * dim;
        float square = 0.0f, v = nv;
        if (one) {
            if (mine) q[threadIdx.x] = nq, k[threadIdx.x] = nk, square = nk * nk;
        } else {
            for (int i = threadIdx.x; i < dim; i += 128) {
                float x = key[at + i];
                q[i] = query[at + i];
                k[i] = x;
                square = fmaf(x, x, square);
            }
        }
        if (one && mine) {
            size_t next = at + dim + threadIdx.x;
            nq = __ldg(query + next);
            nk = __ldg(key + next);
            nv = __ldg(value + next);
        }
        for (int s = 16; s > 0; s /= 2) square += __shfl_xor_sync(0xffffffffu, square, s);
        if (lane == 0) part[warp] = square;
        __syncthreads();
        float scale = rsqrtf((part[0] + part[1]) + (part[2] + part[3]) + 1e-6f);
        float beta = 1.0f / (1.0f + expf(-rate[(size_t)head * steps + t]));
        for (int j = threadIdx.x; j < dim; j += 128) {
            float old = 0.0f;
            for (int i = 0; i < dim; ++i) old = fmaf(held[(size_t)i * dim + j], k[i], old);
            float change = beta * ((one ? v : value[at + j]) - old * scale) * scale;
            float sum = 0.0f;
            for (int i = 0; i < dim; ++i) {
                float s = fmaf(k[i], change, held[(size_t)i * dim + j]);
                held[(size_t)i * dim + j] = s;
                sum = fmaf(s, q[i], sum);
            }
            out[at + j] = sum;
        }
        __syncthreads();
    }
}
