__global__ void recur(const float* gate, const float* x, const float* start, float* h, int rows, int length) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float carry = start[r];
    for (int from = 0; from < length; from += 32) {
        int t = from + lane;
        size_t e = (size_t)r * length + t;
        float a = 1.f, b = 0.f;
        if (t < length) {
            a = 1.f / (1.f + expf(-gate[e]));
            b = (1.f - a) * x[e];
        }
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            float before = __shfl_up_sync(0xffffffffu, a, d), sum = __shfl_up_sync(0xffffffffu, b, d);
            if (lane >= d) {
                b = a * sum + b;
                a *= before;
            }
        }
        float s = a * carry + b;
        if (t < length) h[e] = s;
        carry = __shfl_sync(0xffffffffu, s, 31);
    }
}
