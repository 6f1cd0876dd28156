__device__ float shown(float l) { return l <= 0.0031308f ? 12.92f * l : 1.055f * powf(l, 1.f / 2.4f) - 0.055f; }

// What a screen is given for an amount of light, in place. Four at a
// time, from the first place that is a multiple of sixteen bytes on.
__global__ void srgb(float* v, int n) {
    int head = min(n, (int)((16 - (size_t)v % 16) % 16 / 4)), quads = (n - head) / 4;
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float4* q = (float4*)(v + head);
    for (int k = i; k < quads; k += all) {
        float4 l = q[k];
        q[k] = make_float4(shown(l.x), shown(l.y), shown(l.z), shown(l.w));
    }
    if (i < head) v[i] = shown(v[i]);
    int rest = head + 4 * quads + i;
    if (i < 4 && rest < n) v[rest] = shown(v[rest]);
}
