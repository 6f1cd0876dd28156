__global__ void cross(const float3* a, const float3* b, float3* c, int n) {
    __shared__ float held[2][128 * 3];
    const int first = blockIdx.x * 128, many = min(128, n - first);
    const float* x = (const float*)(a + first);
    const float* y = (const float*)(b + first);
    for (int t = threadIdx.x; t < 3 * many; t += blockDim.x) {
        held[0][t] = x[t];
        held[1][t] = y[t];
    }
    __syncthreads();
    float3 v = {0.0f, 0.0f, 0.0f};
    if (threadIdx.x < many) {
        const float *p = &held[0][3 * threadIdx.x], *q = &held[1][3 * threadIdx.x];
        v = make_float3(p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                        p[0] * q[1] - p[1] * q[0]);
    }
    const float size = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    const float by = size > 0.0f ? 1.0f / size : 0.0f;
    __syncwarp();
    held[1][3 * threadIdx.x] = v.x * by;
    held[1][3 * threadIdx.x + 1] = v.y * by;
    held[1][3 * threadIdx.x + 2] = v.z * by;
    __syncwarp();
    float* out = (float*)(c + first);
    for (int t = threadIdx.x; t < 3 * many; t += blockDim.x) out[t] = held[1][t];
}
