// Linear attention with the delta rule. A head keeps a matrix; each step takes from it what it held for the unit key,
// puts in the new value at a rate between 0 and 1, and reads it with the query. A block takes a head; queries and keys
// have two rooms in turn, so that one barrier a step is enough.
extern "C" __global__ void __launch_bounds__(128)
    fastweights(const float* __restrict__ query, const float* __restrict__ key, const float* __restrict__ value,
              const float* __restrict__ rate, float* __restrict__ state, float* __restrict__ out, int steps, int dim) {
    extern __shared__ float room[];
    __shared__ float part[4];
    int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* held = state + (size_t)head * dim * dim;
    for (int t = 0; t < steps; ++t) {
        float* q = room + (t & 1) * 2 * dim;
        float* k = q + dim;
        size_t at = ((size_t)head * steps + t) * dim;
        float square = 0.0f;
        for (int i = threadIdx.x; i < dim; i += 128) {
            float x = key[at + i];
            q[i] = query[at + i];
            k[i] = x;
            square = fmaf(x, x, square);
        }
        for (int s = 16; s > 0; s /= 2) square += __shfl_xor_sync(0xffffffffu, square, s);
        if (lane == 0) part[warp] = square;
        float beta = 1.0f / (1.0f + expf(-rate[(size_t)head * steps + t]));
        __syncthreads();
        float scale = rsqrtf((part[0] + part[1]) + (part[2] + part[3]) + 1e-6f);
        for (int j = threadIdx.x; j < dim; j += 128) {
            float* column = held + j;
            float o0 = 0.0f, o1 = 0.0f;
            int i = 0;
            for (; i + 1 < dim; i += 2) {
                o0 = fmaf(column[(size_t)i * dim], k[i], o0);
                o1 = fmaf(column[(size_t)(i + 1) * dim], k[i + 1], o1);
            }
            if (i < dim) o0 = fmaf(column[(size_t)i * dim], k[i], o0);
            float change = beta * (value[at + j] - (o0 + o1) * scale) * scale;
            float sum = 0.0f;
            for (i = 0; i < dim; ++i) {
                float s = fmaf(k[i], change, column[(size_t)i * dim]);
                column[(size_t)i * dim] = s;
                sum = fmaf(s, q[i], sum);
            }
            out[at + j] = sum;
        }
    }
}
