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
// A division for each block is long: the channel is in the plane's last bits.
__global__ void instnorm(float* x, const float* gain, const float* shift, int channels, int size, float eps) {
    __shared__ float part[8];
    float* plane = x + blockIdx.x * (size_t)size;
    float4* four = (float4*)plane;
    // Fours where the plane begins at one, and floats for the rest.
    int c = blockIdx.x & (channels - 1), t = threadIdx.x, fours = (size_t)plane % 16 == 0 ? size / 4 : 0;
    float s = 0.f, v = 0.f;
    for (int i = t; i < fours; i += 256) {
        float4 a = four[i];
        s += (a.x + a.y) + (a.z + a.w);
    }
    for (int i = 4 * fours + t; i < size; i += 256) s += plane[i];
    float mean = total(s, part) / size;
    for (int i = t; i < fours; i += 256) {
        float4 a = four[i];
        a.x -= mean, a.y -= mean, a.z -= mean, a.w -= mean;
        v += (a.x * a.x + a.y * a.y) + (a.z * a.z + a.w * a.w);
    }
    for (int i = 4 * fours + t; i < size; i += 256) v += (plane[i] - mean) * (plane[i] - mean);
    float by = gain[c] * rsqrtf(total(v, part) / size + eps), up = shift[c];
    for (int i = t; i < fours; i += 256) {
        float4 a = four[i];
        four[i] = make_float4((a.x - mean) * by + up, (a.y - mean) * by + up, (a.z - mean) * by + up, (a.w - mean) * by + up);
    }
    for (int i = 4 * fours + t; i < size; i += 256) plane[i] = (plane[i] - mean) * by + up;
}
