// Erlang's B: the share of calls that find all m lines busy, a being the load
__device__ float blocked(float a, int m) {
    // 1/B = 1 + m/a + m(m-1)/a^2 + ...
    double sum = 1, term = 1, each = 1 / (double)a;
    for (int k = m; k > 0; --k) {
        term *= k * each;
        sum += term;
        if (term < 1e-14 * sum || sum > 1e60) break;
    }
    return sum > 1e60 ? 0.0f : (float)(1 / sum);
}

// Erlang's C: the share of calls that wait for a line
__device__ float waiting(float a, int m, float b) {
    return a < m ? m * b / (m - a * (1.0f - b)) : 1.0f;
}

__global__ void erlang(const float* load, const int* lines, float* lost, float* queued, float unit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = fminf(fmaxf(load[i] * unit, 0.0f), 1e9f);
    int m = lines[i];
    float b = blocked(a, m);
    lost[i] = b;
    queued[i] = waiting(a, m, b);
}
