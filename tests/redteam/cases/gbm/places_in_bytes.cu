// One step of geometric Brownian motion, for many prices, in place. Both are found by one distance in bytes.
__global__ void gbm(float* price, const float* z, int n, float drift, float vol) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned bytes = i * (unsigned)sizeof(float);
    float* p = (float*)((char*)price + bytes);
    float w = __ldcs((const float*)((const char*)z + bytes));
    __stcs(p, __ldcs(p) * expf(drift + vol * w));
}
