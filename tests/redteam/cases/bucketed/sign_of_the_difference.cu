// The bucket of `width` seconds, counted from the origin, that each time falls in, and how far into it;
// buckets before the origin have negative numbers. All in words of 32 bits.
__global__ void bucketed(const int* t, int* bucket, int* into, int n, int origin, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned d = (unsigned)t[i] - (unsigned)origin;
    unsigned before = (unsigned)((int)d >> 31);
    d ^= before;
    unsigned q = d / (unsigned)width, r = d - q * width;
    bucket[i] = (int)(q ^ before);
    into[i] = (int)(before ? width - 1 - r : r);
}
