__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    bool wide = (((size_t)x | (size_t)y) & 15) == 0;
    if (wide && i + 3 < n) {
        float4 v = __ldg((const float4*)(x + i)), w = *(const float4*)(y + i);
        *(float4*)(y + i) = make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w);
    } else {
        for (int k = i; k < n && k < i + 4; ++k) y[k] = a * x[k] + y[k];
    }
}
