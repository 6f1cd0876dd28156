__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 u = *(const float4*)(x + i), v = *(float4*)(y + i);
        v.x += a * u.x; v.y += a * u.y; v.z += a * u.z; v.w += a * u.w;
        *(float4*)(y + i) = v;
    }
}
