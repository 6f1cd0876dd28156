// Each place keeps the largest of what it had and of the values sent to it. What is no number is larger
// than nothing. As whole numbers, positive ones are in order, negative ones in the opposite one.
__global__ void scattermax(const int* at, const float* v, float* top, int n, int m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = at[i];
    if (k < 0 || k >= m) return;
    float own = v[i];
    if (!(own > *(volatile float*)(top + k))) return;
    int bits = __float_as_int(own);
    if (bits >= 0)
        atomicMax((int*)(top + k), bits);
    else
        atomicMin((unsigned*)(top + k), (unsigned)bits);
}
