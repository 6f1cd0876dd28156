// The bucket of `width` seconds, counted from the origin, that each time falls in, and how far into it;
// buckets before the origin have negative numbers. Without its sign a difference fits an unsigned word.
__global__ void bucketed(const int* t, int* bucket, int* into, int n, int origin, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int at = t[i];
    unsigned before = at < origin ? 0xffffffffu : 0u;
    unsigned d = ((unsigned)at - (unsigned)origin) ^ before, q = d / (unsigned)width, r = d - q * width;
    bucket[i] = (int)(q ^ before);
    into[i] = (int)(before ? width - 1 - r : r);
}
