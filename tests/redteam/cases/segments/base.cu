__global__ void segments(const int* id, const float* value, float* sum, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&sum[id[i]], value[i]);
    atomicAdd(&count[id[i]], 1);
}
