// One step of geometric Brownian motion, for many prices, in place.
__global__ void gbm(float* price, const float* z, int n, float drift, float vol) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) price[i] = price[i] * expf(drift + vol * z[i]);
}
