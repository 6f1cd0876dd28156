// In place: what is not above zero is multiplied by a slope that was learned.
// The larger of the number and its multiple, without a branch.
__global__ void prelu(float* x, int n, float slope) {
    int step = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
    int head = min(n, (int)((16 - ((size_t)x & 15)) & 15) / 4), quads = (n - head) / 4;
    float4* x4 = (float4*)(x + head);
    for (int q = me; q < quads; q += step) {
        float4 v = x4[q];
        v.x = fmaxf(v.x, slope * v.x);
        v.y = fmaxf(v.y, slope * v.y);
        v.z = fmaxf(v.z, slope * v.z);
        v.w = fmaxf(v.w, slope * v.w);
        x4[q] = v;
    }
    // Less than eight: a thread each.
    int rest = n - 4 * quads;
    if (me < rest) {
        int i = me < head ? me : me + 4 * quads;
        x[i] = fmaxf(x[i], slope * x[i]);
    }
}
