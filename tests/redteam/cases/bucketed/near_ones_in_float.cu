// The bucket of `width` seconds, counted from the origin, that each time falls in, and how far into it;
// buckets before the origin have negative numbers. What a float holds exactly is divided as a float.
__global__ void bucketed(const int* t, int* bucket, int* into, int n, int origin, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long d = (long long)t[i] - origin;
    if (d > -16777216 && d < 16777216 && width < 16777216) {
        int q = __float2int_rd((float)d * (1.f / width)), r = (int)d - q * width;
        if (r < 0) {
            --q;
            r += width;
        }
        bucket[i] = q;
        into[i] = r;
        return;
    }
    long long q = d / width, r = d % width;
    if (r < 0) {
        --q;
        r += width;
    }
    bucket[i] = (int)q;
    into[i] = (int)r;
}
