__global__ void stage(float2* data, int half, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, pairs = (groups + 1) / 2;
    if (i >= half * pairs) return;
    int k = i % half, g = i / half;
    float s, c;
    sincospif(-(float)k / half, &s, &c);
    for (; g < groups; g += pairs) {
        int at = g * 2 * half + k;
        float2 a = data[at], b = data[at + half];
        float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        data[at] = make_float2(a.x + t.x, a.y + t.y);
        data[at + half] = make_float2(a.x - t.x, a.y - t.y);
    }
}
