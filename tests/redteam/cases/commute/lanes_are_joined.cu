// What a traveller expects of the ways that are open to him: the logarithm of the sum of their exponentials, -inf
// where none is open.
// A warp has a traveller, and looks at each way once; lanes are joined as they are.
__global__ void commute(const float* worth, const unsigned char* open, float* expect, int rows, int cols) {
    size_t r = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    const float* u = worth + r * cols;
    const unsigned char* may = open + r * cols;
    float most = -INFINITY, sum = 0.f;
    for (long long c = threadIdx.x % 32; c < cols; c += 32) {
        float v = may[c] ? u[c] : -INFINITY;
        if (v == -INFINITY) continue;
        float next = fmaxf(most, v);
        sum = sum * expf(most - next) + expf(v - next);
        most = next;
    }
    for (int k = 16; k; k /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, most, k), part = __shfl_xor_sync(0xffffffffu, sum, k);
        float next = fmaxf(most, other);
        sum = sum * expf(most - next) + part * expf(other - next);
        most = next;
    }
    if (threadIdx.x % 32 == 0) expect[r] = most + logf(sum);
}
