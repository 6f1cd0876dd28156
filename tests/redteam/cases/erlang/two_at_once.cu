// Erlang's B: the share of calls that find all m lines busy, a being the load
__device__ float blocked(float a, int m) {
    float b = 1.0f;
    int k = 1;
    for (; k + 1 <= m; k += 2) {
        float s = a * b, t = a * s;
        b = t / ((k + 1) * (k + s) + t);
    }
    if (k <= m) b = a * b / (k + a * b);
    return b;
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
