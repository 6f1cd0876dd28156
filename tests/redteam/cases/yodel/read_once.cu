// Threads go along one lag each: what is a sound now is the echo of the next.
__global__ void yodel(const float* x, float* y, int n, int lag, float gain) {
    long long span = (long long)lag * 8;
    for (long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x; k < (n + 7ll) / 8 + lag;
         k += (long long)gridDim.x * blockDim.x) {
        long long i = k / lag * span + k % lag;
        float before = i >= lag && i < n ? x[i - lag] : 0.f;
        for (int step = 0; step < 8 && i < n; ++step, i += lag) {
            float own = x[i];
            y[i] = i >= lag ? own + gain * before : own;
            before = own;
        }
    }
}
