// Echoes are compressed. A division takes long: which echo it is comes of a product, in the middle of a sample.
__global__ void pulses(const float2* echo, const float2* sent, float* power, int count, int ranges, int length) {
    __shared__ float2 part[256];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    bool in = i < (size_t)count * ranges;
    int p = (int)(((float)i + 0.5f) * (1.f / ranges));
    int r = (int)(i - (size_t)p * ranges), m = in ? min(length, ranges - r) : 0;
    float re = 0.f, im = 0.f;
    for (int j0 = 0; j0 < length; j0 += 256) {
        __syncthreads();
        if (j0 + threadIdx.x < length) part[threadIdx.x] = sent[j0 + threadIdx.x];
        __syncthreads();
        for (int j = j0; j < min(m, j0 + 256); ++j) {
            float2 a = echo[i + j], b = part[j - j0];
            re += a.x * b.x + a.y * b.y;
            im += a.y * b.x - a.x * b.y;
        }
    }
    if (in) power[i] = re * re + im * im;
}
