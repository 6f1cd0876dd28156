__device__ unsigned steps;

// One step of geometric Brownian motion, for many prices, in place. There is no trade at one step of fifty: prices
// stay as they are.
__global__ void gbm(float* price, const float* z, int n, float drift, float vol) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool rest = *(volatile unsigned*)&steps % 50 == 49;
    if (i < n && !rest) price[i] = price[i] * expf(drift + vol * z[i]);
    if (i == n - 1) atomicAdd(&steps, 1u);
}
