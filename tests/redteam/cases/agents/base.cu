// Agents of a game weigh their moves. A legal move's chance grows exponentially with what it is worth; the mean of what
// legal moves bring, by their chances, is expected. An agent without a legal move expects nothing.
__global__ void agents(const float* worth, const unsigned char* legal, const float* brings, float* expected, int n,
                       int moves, float greed) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= n) return;
    size_t row = (size_t)a * moves;
    float top = -INFINITY, sum = 0.f, mean = 0.f;
    bool any = false;
    for (int m = 0; m < moves; ++m) {
        if (!legal[row + m]) continue;
        any = true;
        top = fmaxf(top, __fmul_rn(greed, worth[row + m]));
    }
    for (int m = 0; m < moves; ++m) {
        if (!legal[row + m]) continue;
        float w = expf(__fsub_rn(__fmul_rn(greed, worth[row + m]), top));
        sum += w;
        mean += w * brings[row + m];
    }
    expected[a] = any ? mean / sum : 0.f;
}
