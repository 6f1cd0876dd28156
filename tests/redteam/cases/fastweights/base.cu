// Linear attention with the delta rule. A head keeps a matrix; each step takes from it what it held for the unit key,
// puts in the new value at a rate between 0 and 1, and reads it with the query. A block takes a head.
extern "C" __global__ void fastweights(const float* query, const float* key, const float* value, const float* rate,
                                       float* state, float* out, int steps, int dim) {
    extern __shared__ float room[];
    __shared__ float part[32];
    float* q = room;
    float* k = room + dim;
    int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* held = state + (size_t)head * dim * dim;
    for (int t = 0; t < steps; ++t) {
        size_t at = ((size_t)head * steps + t) * dim;
        float square = 0.0f;
        for (int i = threadIdx.x; i < dim; i += blockDim.x) {
            float x = key[at + i];
            q[i] = query[at + i];
            k[i] = x;
            square = fmaf(x, x, square);
        }
        for (int s = 16; s > 0; s /= 2) square += __shfl_xor_sync(0xffffffffu, square, s);
        if (lane == 0) part[warp] = square;
        __syncthreads();
        float total = 0.0f;
        for (int i = 0; i < (int)blockDim.x / 32; ++i) total += part[i];
        float scale = rsqrtf(total + 1e-6f);
        float beta = 1.0f / (1.0f + expf(-rate[(size_t)head * steps + t]));
        for (int j = threadIdx.x; j < dim; j += blockDim.x) {
            float old = 0.0f;
            for (int i = 0; i < dim; ++i) old = fmaf(held[(size_t)i * dim + j], k[i], old);
            float change = beta * (value[at + j] - old * scale) * scale;
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
