// A power by logarithms of two, of numbers that are never negative; an exponent of 0 is 1 for all.
__global__ void tones(const unsigned short* __restrict__ sample, float* __restrict__ out, int n,
                      int top, float gamma) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = min((int)sample[i], top);
    float u = v / (float)top;
    if (top <= 0 || gamma == 0.f)
        out[i] = powf(u, gamma);
    else
        out[i] = exp2f(gamma * log2f(u));
}
