// Erlang's C: the share of calls that wait for a line
__device__ float waiting(float a, int m, float b) {
    return a < m ? m * b / (m - a * (1.0f - b)) : 1.0f;
}

__global__ void erlang(const float* load, const int* lines, float* lost, float* queued, float unit, int n) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    float known = -1.0f, b = 1.0f;
    int k = 0;
    for (int i = first; i < min(n, first + 4); ++i) {
        float a = fminf(fmaxf(load[i] * unit, 0.0f), 1e9f);
        int m = lines[i];
        // the same load: go on from where the one before ended
        if (a != known) {
            b = 1.0f;
            k = 0;
        }
        for (; k < m; ++k) b = a * b / (k + 1 + a * b);
        known = a;
        lost[i] = b;
        queued[i] = waiting(a, m, b);
    }
}
