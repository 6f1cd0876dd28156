// Window sums by doubling: after step p a cell holds the sum of 2^p neighbours, and the window is put together from
// the binary digits of its length. Only additions: nothing outside the window ever enters a result.
extern "C" __global__ void gatemean(const float* __restrict__ x, float* __restrict__ y, int n, int r)
{
    extern __shared__ float cell[];
    int span = blockDim.x + 2 * r;
    float* a = cell;
    float* b = cell + span;
    int t = threadIdx.x;
    long long first = (long long)blockIdx.x * blockDim.x - r;
    for (int e = t; e < span; e += blockDim.x) {
        long long g = first + e;
        a[e] = (g >= 0 && g < n) ? x[g] : 0.0f;
    }
    __syncthreads();
    int left = 2 * r + 1;                   // elements still to be added
    int at = t;                             // where they begin
    int size = 1;
    float s = 0.0f;
    while (true) {
        if (left & 1) { s += a[at]; at += size; }
        left >>= 1;
        if (left == 0) break;               // the same for every thread of the block
        for (int e = t; e < span; e += blockDim.x)
            b[e] = e + size < span ? a[e] + a[e + size] : a[e];
        __syncthreads();
        float* h = a; a = b; b = h;
        size <<= 1;
    }
    long long k = (long long)blockIdx.x * blockDim.x + t;
    if (k < n) {
        long long lo = k - r < 0 ? 0 : k - r;
        long long hi = k + r > n - 1 ? n - 1 : k + r;
        y[k] = s / (float)(hi - lo + 1);
    }
}
