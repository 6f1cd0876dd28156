// A 32-bit word per row weeds out nearly all pairs; rows whose words agree are compared byte by byte.
extern "C" __global__ void __launch_bounds__(64) bucketdup(const unsigned char* __restrict__ dict, const int* __restrict__ ref,
                                                           int* __restrict__ leader, int n, int d, int w)
{
    __shared__ unsigned print[64];
    __shared__ int place[64];
    int t = threadIdx.x;
    int i = blockIdx.x * 64 + t;
    if (i < n) {
        int p = ref[i] % d;
        const unsigned char* mine = dict + (size_t)p * w;
        unsigned h = 5381u;
        for (int b = 0; b < w; ++b) h = h * 33u + mine[b];
        print[t] = h;
        place[t] = p;
    }
    __syncthreads();
    if (i >= n) return;
    unsigned h = print[t];
    int p = place[t];
    const unsigned char* mine = dict + (size_t)p * w;
    int j = 0;
    for (; j < t; ++j) {
        if (print[j] != h) continue;
        if (place[j] == p) break;
        const unsigned char* other = dict + (size_t)place[j] * w;
        int b = 0;
        while (b < w && mine[b] == other[b]) ++b;
        if (b == w) break;
    }
    leader[i] = blockIdx.x * 64 + j;
}
