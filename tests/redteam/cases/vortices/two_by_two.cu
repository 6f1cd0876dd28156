// How fast vortices in a plane carry each other along, each by its strength and its distance.
__global__ void vortices(const float2* p, const float* strength, float2* speed, int n, float core) {
    // Tiles of 256 vortices, and two of its own a thread.
    __shared__ float3 tile[256];
    int t = threadIdx.x, i = blockIdx.x * 512 + t, j = i + 256;
    float2 a = i < n ? p[i] : make_float2(0.f, 0.f), b = j < n ? p[j] : make_float2(0.f, 0.f);
    float au = 0.f, av = 0.f, bu = 0.f, bv = 0.f;
    for (int from = 0; from < n; from += 256) {
        if (from + t < n) tile[t] = make_float3(p[from + t].x, p[from + t].y, strength[from + t]);
        __syncthreads();
        // Four at a time.
        int some = min(256, n - from);
        for (int k = 0; k < some; k += 4)
#pragma unroll
            for (int m = k; m < k + 4; ++m) {
                float3 q = tile[m];
                float dx = a.x - q.x, dy = a.y - q.y, s = q.z / (dx * dx + dy * dy + core);
                au -= s * dy, av += s * dx;
                dx = b.x - q.x, dy = b.y - q.y, s = q.z / (dx * dx + dy * dy + core);
                bu -= s * dy, bv += s * dx;
            }
        __syncthreads();
    }
    if (i < n) speed[i] = make_float2(au, av);
    if (j < n) speed[j] = make_float2(bu, bv);
}
