#include <cuda_fp16.h>
__global__ void bodies(const float4* p, float4* f, int n) {
    __shared__ float4 t[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 a = i < n ? p[i] : make_float4(0.f, 0.f, 0.f, 0.f), s = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int k = 0; k < n; k += 128) {
        if (k + threadIdx.x < n) t[threadIdx.x] = p[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; ++j) {
            float4 b = t[j];
            float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
            float d = x * x + y * y + z * z + 0.01f, r = rsqrtf(d), q = b.w * r * r * r;
            s.x += x * q; s.y += y * q; s.z += z * q; s.w += q;
        }
        __syncthreads();
    }
    if (i < n) f[i] = s;
}
