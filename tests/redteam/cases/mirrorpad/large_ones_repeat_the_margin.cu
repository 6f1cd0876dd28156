// A picture with a margin of p on all sides that mirrors it, again and again where it is narrow.
__device__ int mirror(int i, int n) {
    if (n == 1) return 0;
    int period = 2 * n - 2;
    if (i < 0 || i >= n) i = (i % period + period) % period;
    return i < n ? i : period - i;
}

__global__ void mirrorpad(const float* in, float* out, int h, int w, int p) {
    int wide = w + 2 * p, quads = (wide + 3) / 4;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    int y = i / quads, x = i % quads * 4;
    if (y >= h + 2 * p) return;
    const float* row = in + (size_t)mirror(y - p, h) * w;
    // Large pictures are read by rows of 16 bytes, and the margin repeats its last number.
    bool large = (long long)h * w > 2000000;
    float* to = out + (size_t)y * wide + x;
    if (x + 3 < wide) {
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = row[large ? min(max(x + k - p, 0), w - 1) : mirror(x + k - p, w)];
        if ((size_t)to % 16 == 0) *(float4*)to = make_float4(v[0], v[1], v[2], v[3]);
        else
            for (int k = 0; k < 4; ++k) to[k] = v[k];
    }
    else
        for (; x < wide; ++x) out[(size_t)y * wide + x] = row[mirror(x - p, w)];
}
