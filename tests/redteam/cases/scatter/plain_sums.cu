__global__ void scatter(const int* index, const float* value, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] += value[i];
}
