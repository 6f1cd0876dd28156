// Window sums by doubling, in one buffer: cells are updated from left to right, so a cell's right neighbour still holds
// its old value when it is read, and one barrier per step is enough.
extern "C" __global__ void gatemean(const float* __restrict__ x, float* __restrict__ y, int n, int r)
{
    extern __shared__ float cell[];
    int span = blockDim.x + 2 * r;
    int t = threadIdx.x;
    long long first = (long long)blockIdx.x * blockDim.x - r;
    for (int e = t; e < span; e += blockDim.x) {
        long long g = first + e;
        cell[e] = (g >= 0 && g < n) ? x[g] : 0.0f;
    }
    __syncthreads();
    int left = 2 * r + 1;
    int at = t;
    int size = 1;
    float s = 0.0f;
    while (true) {
        if (left & 1) { s += cell[at]; at += size; }
        left >>= 1;
        if (left == 0) break;
        for (int e = t; e + size < span; e += blockDim.x) cell[e] += cell[e + size];
        __syncthreads();
        size <<= 1;
    }
    long long k = (long long)blockIdx.x * blockDim.x + t;
    if (k < n) {
        long long lo = k - r < 0 ? 0 : k - r;
        long long hi = k + r > n - 1 ? n - 1 : k + r;
        y[k] = s / (float)(hi - lo + 1);
    }
}
