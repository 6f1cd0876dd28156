// In which period each time is; periods are `width` long, and the first begins at `start`.
__global__ void periods(const unsigned* t, unsigned* period, int n, unsigned start, unsigned width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) period[i] = (t[i] - start) / width;
}
