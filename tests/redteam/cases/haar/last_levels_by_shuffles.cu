// Haar's wavelets of each row: sums and differences of neighbours, then the same with the sums, until
// one is left. Differences lie behind the sums they belong to; an odd one out goes on as it is. The last
// levels are those of one warp.
__global__ void haar(const float* in, float* out, int rows, int w) {
    extern __shared__ float room[];
    float *now = room, *then = room + w;
    const float root = 0.70710678f;
    for (int i = threadIdx.x; i < w; i += blockDim.x) now[i] = in[(size_t)blockIdx.x * w + i];
    __syncthreads();
    float* to = out + (size_t)blockIdx.x * w;
    int len = w;
    while (len > 32) {
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
    if (threadIdx.x >= 32) return;
    int lane = threadIdx.x;
    float v = lane < len ? now[lane] : 0.f;
    while (len > 1) {
        int half = (len + 1) / 2;
        float a = __shfl_sync(0xffffffffu, v, 2 * lane & 31), b = __shfl_sync(0xffffffffu, v, (2 * lane + 1) & 31);
        if (2 * lane + 1 < len) {
            v = (a + b) * root;
            to[half + lane] = (a - b) * root;
        } else {
            v = a;
        }
        len = half;
    }
    if (lane == 0) to[0] = v;
}
