// One stage of a Fourier transform of radix two, in place.
__global__ void stage(float2* data, int half, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half * groups) return;
    int k = i % half, at = i / half * 2 * half + k;
    float s, c;
    sincospif(-rintf((float)k / half * 512.f) / 512.f, &s, &c);
    float2 a = data[at], b = data[at + half];
    float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    data[at] = make_float2(a.x + t.x, a.y + t.y);
    data[at + half] = make_float2(a.x - t.x, a.y - t.y);
}
