// The sum of what a block's threads have.
__device__ float total(float v, float* part) {
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.f;
    for (int w = 0; w < 8; ++w) v += part[w];
    __syncthreads();
    return v;
}

// Each channel of each picture gets its own mean and spread taken off, in place, and its channel's gain and shift.
__global__ void instnorm(float* x, const float* gain, const float* shift, int channels, int size, float eps) {
    __shared__ float part[8];
    float* plane = x + blockIdx.x * (size_t)size;
    int c = blockIdx.x % channels;
    float s = 0.f, v = 0.f;
    for (int i = threadIdx.x; i < size; i += 256) s += plane[i];
    float mean = total(s, part) / size;
    for (int i = threadIdx.x; i < size; i += 256) v += (plane[i] - mean) * (plane[i] - mean);
    float by = gain[c] * rsqrtf(total(v, part) / size + eps);
    for (int i = threadIdx.x; i < size; i += 256) plane[i] = (plane[i] - mean) * by + shift[c];
}
