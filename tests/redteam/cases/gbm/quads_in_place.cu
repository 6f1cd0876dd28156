__device__ float moved(float price, float z, float drift, float vol) { return price * expf(drift + vol * z); }

// One step of geometric Brownian motion, for many prices, in place. Four at a time where both begin at sixteen
// bytes.
__global__ void gbm(float* price, const float* z, int n, float drift, float vol) {
    size_t t = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
    size_t all = n, done = 0;
    if ((((size_t)price | (size_t)z) & 15) == 0) {
        float4* p4 = (float4*)price;
        const float4* z4 = (const float4*)z;
        for (size_t i = t; i < all / 4; i += step) {
            float4 p = p4[i], w = z4[i];
            p.x = moved(p.x, w.x, drift, vol);
            p.y = moved(p.y, w.y, drift, vol);
            p.z = moved(p.z, w.z, drift, vol);
            p.w = moved(p.w, w.w, drift, vol);
            p4[i] = p;
        }
        done = all / 4 * 4;
    }
    for (size_t i = done + t; i < all; i += step) price[i] = moved(price[i], z[i], drift, vol);
}
