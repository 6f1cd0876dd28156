// Threads go along one lag each: what is a sound now is the echo of the next.
__global__ void yodel(const float* x, float* y, int n, int lag, float gain) {
    long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, stride = (long long)gridDim.x * blockDim.x;
    if (lag <= 0) {
        for (long long i = first; i < n; i += stride) {
            float v = x[i];
            y[i] = i >= lag ? v + gain * x[i - lag] : v;
        }
        return;
    }
    long long span = (long long)lag * 8, spans = (n + span - 1) / span;
    for (long long k = first; k < spans * lag; k += stride) {
        long long i = k / lag * span + k % lag;
        float before = i >= lag && i < n ? x[i - lag] : 0.f;
        for (int step = 0; step < 8 && i < n; ++step, i += lag) {
            float own = x[i];
            y[i] = i >= lag ? own + gain * before : own;
            before = own;
        }
    }
}
