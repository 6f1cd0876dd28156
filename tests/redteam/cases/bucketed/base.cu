// The bucket of `width` seconds, counted from the origin, that each time falls in, and how far into it;
// buckets before the origin have negative numbers.
__global__ void bucketed(const int* t, int* bucket, int* into, int n, int origin, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long d = (long long)t[i] - origin, q = d / width, r = d % width;
    if (r < 0) {
        --q;
        r += width;
    }
    bucket[i] = (int)q;
    into[i] = (int)r;
}
