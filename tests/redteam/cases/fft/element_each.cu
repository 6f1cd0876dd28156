__global__ void stage(float2* data, int half, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * half * groups) return;
    int inside = i % (2 * half), k = inside % half, at = i - inside + k;
    float s, c;
    sincospif(-(float)k / half, &s, &c);
    float2 a = data[at], b = data[at + half];
    float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    data[i] = inside < half ? make_float2(a.x + t.x, a.y + t.y) : make_float2(a.x - t.x, a.y - t.y);
}
