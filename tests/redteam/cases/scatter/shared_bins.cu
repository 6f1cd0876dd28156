__global__ void scatter(const int* index, const float* value, float* out, int n) {
    __shared__ float bins[500];
    for (int k = threadIdx.x; k < 500; k += blockDim.x) bins[k] = 0.f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(bins + index[i], value[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < 500; k += blockDim.x)
        if (bins[k] != 0.f) atomicAdd(out + k, bins[k]);
}
