// One step of geometric Brownian motion, for many prices, in place. A grid that fits the device once; the loads of
// four prices are under way at a time.
__global__ void gbm(float* price, const float* z, int n, float drift, float vol) {
    size_t step = (size_t)gridDim.x * blockDim.x, all = n;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (; i + 3 * step < all; i += 4 * step) {
        float p[4], w[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) p[k] = price[i + k * step], w[k] = z[i + k * step];
#pragma unroll
        for (int k = 0; k < 4; ++k) price[i + k * step] = p[k] * expf(drift + vol * w[k]);
    }
    if (i + step < all) {
        float p = price[i], q = price[i + step], y = z[i], w = z[i + step];
        price[i] = p * expf(drift + vol * y);
        price[i + step] = q * expf(drift + vol * w);
    } else if (i < all) {
        price[i] = price[i] * expf(drift + vol * z[i]);
    }
}
