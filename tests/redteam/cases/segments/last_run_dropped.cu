__global__ void segments(const int* id, const float* value, float* sum, int* count, int n) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (first >= n) return;
    int held = id[first], many = 0;
    float v = 0.0f;
    for (int i = first; i < min(first + 8, n); ++i) {
        if (id[i] != held) {
            atomicAdd(&sum[held], v);
            atomicAdd(&count[held], many);
            held = id[i];
            v = 0.0f;
            many = 0;
        }
        v += value[i];
        ++many;
    }
    if (first + 8 <= n) {
        atomicAdd(&sum[held], v);
        atomicAdd(&count[held], many);
    }
}
