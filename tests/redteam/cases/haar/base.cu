// Haar's wavelets of each row: sums and differences of neighbours, then the same with the sums, until
// one is left. Differences lie behind the sums they belong to; an odd one out goes on as it is.
__global__ void haar(const float* in, float* out, int rows, int w) {
    extern __shared__ float room[];
    float *now = room, *then = room + w;
    const float root = 0.70710678f;
    for (int i = threadIdx.x; i < w; i += blockDim.x) now[i] = in[(size_t)blockIdx.x * w + i];
    __syncthreads();
    float* to = out + (size_t)blockIdx.x * w;
    for (int len = w; len > 1;) {
        int half = (len + 1) / 2;
        for (int i = threadIdx.x; i < half; i += blockDim.x) {
            if (2 * i + 1 < len) {
                then[i] = (now[2 * i] + now[2 * i + 1]) * root;
                to[half + i] = (now[2 * i] - now[2 * i + 1]) * root;
            } else {
                then[i] = now[2 * i];
            }
        }
        __syncthreads();
        float* other = now;
        now = then, then = other;
        len = half;
    }
    if (threadIdx.x == 0) to[0] = now[0];
}
