// Samples of up to `top` as brightness from 0 to 1, with a gamma.
__global__ void tones(const unsigned short* sample, float* out, int n, int top, float gamma) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = min((int)sample[i], top);
    out[i] = powf(v / (float)top, gamma);
}
