// What each book of a bank gains or loses in each scenario: a sum over the risk factors of the factor's move, times how
// much the book changes with it, to the second order.
__global__ void stressed(const float* move, const float* delta, const float* gamma, float* out, int scenarios,
                         int books, int factors) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, s = i / books, b = i % books;
    if (s >= scenarios) return;
    float sum = 0.f;
    for (int f = 0; f < factors; ++f) {
        float m = move[s * factors + f];
        sum += m * (delta[b * factors + f] + 0.5f * gamma[b * factors + f] * m);
    }
    out[i] = sum;
}
