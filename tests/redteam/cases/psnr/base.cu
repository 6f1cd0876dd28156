// How near two pictures are, in decibels: the square of the largest difference there is by the mean square of theirs.
__global__ void psnr(const unsigned char* a, const unsigned char* b, float* out, int n) {
    __shared__ unsigned long long part[512];
    int t = threadIdx.x;
    unsigned long long sum = 0;
    for (int i = t; i < n; i += 512) {
        int d = a[i] - b[i];
        sum += d * d;
    }
    part[t] = sum;
    __syncthreads();
    for (int s = 256; s; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) *out = 10. * log10(65025. * n / part[0]);
}
