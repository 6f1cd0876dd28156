// How far the values of each row are from what is expected of its columns: the sum of the weighted squares.
// A warp has a row. What a sum loses is kept beside it; what is not finite has no such part.
__global__ void deviance(const float* x, const float* mu, const float* w, float* out, int rows, int cols) {
    size_t r = blockIdx.x * (size_t)8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* own = x + r * cols;
    float sum = 0.f, lost = 0.f, plain = 0.f;
    for (size_t c = lane; c < cols; c += 32) {
        float d = own[c] - mu[c], term = w[c] * d * d;
        plain += term;
        float y = term - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    for (int s = 16; s; s /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, sum, s), gone = __shfl_xor_sync(0xffffffffu, lost, s);
        plain += __shfl_xor_sync(0xffffffffu, plain, s);
        float y = other - (lost + gone), t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    if (lane == 0) out[r] = isfinite(sum) ? sum : plain;
}
