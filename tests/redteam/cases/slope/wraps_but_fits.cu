// The spread of t from whole numbers: the sums of squares may wrap around, their difference
// n * sum(t * t) - sum(t) * sum(t) is right modulo 2^64, and is below that where the range allows.
__device__ double all(double v) {
    __shared__ double parts[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int k = 0; k < 8; ++k) v += parts[k];
    __syncthreads();
    return v;
}

__device__ unsigned long long all_whole(unsigned long long v) {
    __shared__ unsigned long long parts[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int k = 0; k < 8; ++k) v += parts[k];
    __syncthreads();
    return v;
}

__device__ int largest(int v) {
    __shared__ int parts[8];
    v = __reduce_max_sync(0xffffffffu, v);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
    for (int k = 1; k < 8; ++k) v = max(v, parts[k]);
    __syncthreads();
    return v;
}

__global__ void slope(const int* __restrict__ t, const float* __restrict__ y, float* __restrict__ out,
                      int cols) {
    t += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    unsigned long long s = 0, q = 0;
    double sy = 0;
    int high = -2147483647 - 1, low_bits = -2147483647 - 1;
    for (int i = threadIdx.x; i < cols; i += 256) {
        int v = t[i];
        s += (unsigned long long)(long long)v;
        q += (unsigned long long)((long long)v * v);
        sy += y[i];
        high = max(high, v);
        low_bits = max(low_bits, ~v);
    }
    s = all_whole(s);
    q = all_whole(q);
    high = largest(high);
    int low = ~largest(low_bits);
    double tm = (double)(long long)s / cols, ym = all(sy) / cols, sty = 0;
    for (int i = threadIdx.x; i < cols; i += 256) sty += (t[i] - tm) * (y[i] - ym);
    sty = all(sty);
    double range = (double)high - low, stt = 0;
    if (range * range / 4 * cols * cols < 9e18) {
        stt = (double)((unsigned long long)cols * q - s * s) / cols;
    } else {
        for (int i = threadIdx.x; i < cols; i += 256) stt += (t[i] - tm) * (t[i] - tm);
        stt = all(stt);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = stt > 0 ? (float)(sty / stt) : 0.f;
}
