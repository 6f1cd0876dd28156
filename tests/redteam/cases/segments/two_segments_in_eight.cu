__global__ void segments(const int* id, const float* value, float* sum, int* count, int n) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8, end = min(first + 8, n);
    if (first >= n) return;
    const int low = id[first], high = id[end - 1];
    float a = 0.0f, b = 0.0f;
    int many = 0;
    for (int i = first; i < end; ++i) {
        if (id[i] == low) {
            a += value[i];
            ++many;
        } else {
            b += value[i];
        }
    }
    atomicAdd(&sum[low], a);
    atomicAdd(&count[low], many);
    if (high != low) {
        atomicAdd(&sum[high], b);
        atomicAdd(&count[high], end - first - many);
    }
}
