// What a traveller expects of the ways that are open to him: the logarithm of the sum of their exponentials, -inf
// where none is open.
// A warp has a traveller, and a lane keeps its ways in registers.
__global__ void commute(const float* worth, const unsigned char* open, float* expect, int rows, int cols) {
    size_t r = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    const float* u = worth + r * cols;
    const unsigned char* may = open + r * cols;
    float own[16], most = -INFINITY, sum = 0.f;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        int c = k * 32 + threadIdx.x % 32;
        own[k] = c < cols && may[c] ? u[c] : -INFINITY;
        most = fmaxf(most, own[k]);
    }
    for (int k = 16; k; k /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, k));
#pragma unroll
    for (int k = 0; k < 16; ++k)
        if (own[k] != -INFINITY) sum += expf(own[k] - most);
    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (threadIdx.x % 32 == 0) expect[r] = most == -INFINITY ? most : most + logf(sum);
}
