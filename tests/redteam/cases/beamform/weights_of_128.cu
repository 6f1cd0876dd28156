// Beams of a row of receivers: at each moment a sum over the receivers, weighed for each beam. The weights of four
// beams are held, and each sample is read once for them.
__global__ void beamform(const float* x, const float* w, float* y, int receivers, int beams, int moments) {
    __shared__ float4 held[128];
    int t = threadIdx.x, m = blockIdx.x * blockDim.x + t, b = blockIdx.y * 4;
    int many = min(receivers, 128);
    for (int r = t; r < many; r += blockDim.x) {
        const float* from = w + (size_t)b * receivers + r;
        float4 v = {from[0], 0.f, 0.f, 0.f};
        if (b + 1 < beams) v.y = from[receivers];
        if (b + 2 < beams) v.z = from[2 * (size_t)receivers];
        if (b + 3 < beams) v.w = from[3 * (size_t)receivers];
        held[r] = v;
    }
    __syncthreads();
    if (m >= moments) return;
    float4 sum = {0.f, 0.f, 0.f, 0.f};
#pragma unroll 4
    for (int r = 0; r < many; ++r) {
        float v = x[(size_t)r * moments + m];
        float4 f = held[r];
        sum.x += f.x * v, sum.y += f.y * v, sum.z += f.z * v, sum.w += f.w * v;
    }
    float* to = y + (size_t)b * moments + m;
    to[0] = sum.x;
    if (b + 1 < beams) to[moments] = sum.y;
    if (b + 2 < beams) to[2 * (size_t)moments] = sum.z;
    if (b + 3 < beams) to[3 * (size_t)moments] = sum.w;
}
