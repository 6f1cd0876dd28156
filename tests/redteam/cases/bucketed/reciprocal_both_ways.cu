// The bucket of `width` seconds, counted from the origin, that each time falls in, and how far into it;
// buckets before the origin have negative numbers. A product in double, mended by what it leaves.
__global__ void bucketed(const int* t, int* bucket, int* into, int n, int origin, int width) {
    double by = 1.0 / width;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
        long long d = (long long)t[i] - origin, q = (long long)floor((double)d * by), r = d - q * width;
        if (r < 0) {
            --q;
            r += width;
        } else if (r >= width) {
            ++q;
            r -= width;
        }
        bucket[i] = (int)q;
        into[i] = (int)r;
    }
}
