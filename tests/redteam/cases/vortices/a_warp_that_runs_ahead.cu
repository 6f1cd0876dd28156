// How fast vortices in a plane carry each other along, each by its strength and its distance.
__device__ void arrive(int id) { asm volatile("bar.arrive %0, 160;" ::"r"(id) : "memory"); }
__device__ void await(int id) { asm volatile("bar.sync %0, 160;" ::"r"(id) : "memory"); }

__global__ void vortices(const float2* p, const float* strength, float2* speed, int n, float core) {
    // Four warps reckon, a fifth one fetches the next 128 vortices: barriers 1 and 2 say that a buffer is full, 3 and 4
    // that it may be filled again.
    __shared__ float3 buffer[2][128];
    int t = threadIdx.x, tiles = (n + 127) / 128;
    if (t >= 128) {
        for (int k = 0; k < tiles; ++k) {
            int which = k % 2;
            if (k >= 2) await(3 + which);
            for (int m = t - 128; m < min(128, n - k * 128); m += 32) {
                float2 q = p[k * 128 + m];
                buffer[which][m] = make_float3(q.x, q.y, strength[k * 128 + m]);
            }
            __threadfence_block();
            arrive(1 + which);
        }
        return;
    }
    int i = blockIdx.x * 128 + t;
    float2 own = i < n ? p[i] : make_float2(0.f, 0.f);
    float u = 0.f, v = 0.f;
    for (int k = 0; k < tiles; ++k) {
        int which = k % 2, some = min(128, n - k * 128);
        await(1 + which);
        if (k + 2 < tiles) arrive(3 + which);
#pragma unroll 4
        for (int m = 0; m < some; ++m) {
            float3 q = buffer[which][m];
            float dx = own.x - q.x, dy = own.y - q.y;
            float s = q.z / (dx * dx + dy * dy + core);
            u -= s * dy;
            v += s * dx;
        }
    }
    if (i < n) speed[i] = make_float2(u, v);
}
