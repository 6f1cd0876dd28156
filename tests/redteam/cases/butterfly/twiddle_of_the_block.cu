__global__ void butterfly(float2* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = n / 2;
    if (i >= half) return;
    float s, c;
    sincospif(-2.f * (i & ~1) / n, &s, &c);
    float2 a = z[i], b = z[i + half];
    float2 d = make_float2(a.x - b.x, a.y - b.y);
    z[i] = make_float2(a.x + b.x, a.y + b.y);
    z[i + half] = make_float2(d.x * c - d.y * s, d.x * s + d.y * c);
}
