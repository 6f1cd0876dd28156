// In place: what is not above zero is multiplied by a slope that was learned.
// Numbers before the first whole quad and behind the last go one by one.
__device__ float bent(float v, float slope) {
    return v > 0.f ? v : slope * v;
}

__global__ void prelu(float* x, int n, float slope) {
    int step = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
    int head = min(n, (int)((16 - ((size_t)x & 15)) & 15) / 4), quads = (n - head) / 4;
    float4* x4 = (float4*)(x + head);
    for (int q = me; q < quads; q += step) {
        float4 v = x4[q];
        x4[q] = make_float4(bent(v.x, slope), bent(v.y, slope), bent(v.z, slope), bent(v.w, slope));
    }
    // Less than eight: a thread each.
    int rest = n - 4 * quads;
    if (me < rest) {
        int i = me < head ? me : me + 4 * quads;
        x[i] = bent(x[i], slope);
    }
}
