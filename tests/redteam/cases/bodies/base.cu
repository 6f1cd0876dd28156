#include <cuda_fp16.h>
__global__ void bodies(const float4* p, float4* f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = p[i], s = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int j = 0; j < n; ++j) {
        float4 b = p[j];
        float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
        float d = x * x + y * y + z * z + 0.01f;
        float q = b.w / (d * sqrtf(d));
        s.x += x * q; s.y += y * q; s.z += z * q; s.w += q;
    }
    f[i] = s;
}
