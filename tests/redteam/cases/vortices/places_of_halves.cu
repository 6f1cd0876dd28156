#include <cuda_fp16.h>
// How fast vortices in a plane carry each other along, each by its strength and its distance.
__global__ void vortices(const float2* p, const float* strength, float2* speed, int n, float core) {
    // A tile's places as pairs of halves from its first one on; all that is reckoned with them is float.
    __shared__ __half2 place[128];
    __shared__ float weight[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float2 own = i < n ? p[i] : make_float2(0.f, 0.f);
    float u = 0.f, v = 0.f;
    for (int from = 0; from < n; from += 128) {
        float2 first = p[from];
        if (from + t < n) {
            place[t] = __floats2half2_rn(p[from + t].x - first.x, p[from + t].y - first.y);
            weight[t] = strength[from + t];
        }
        __syncthreads();
        float x = own.x - first.x, y = own.y - first.y;
        for (int k = 0; k < min(128, n - from); ++k) {
            float2 q = __half22float2(place[k]);
            float dx = x - q.x, dy = y - q.y, s = weight[k] / (dx * dx + dy * dy + core);
            u -= s * dy;
            v += s * dx;
        }
        __syncthreads();
    }
    if (i < n) speed[i] = make_float2(u, v);
}
