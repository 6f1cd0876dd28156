// Every row is boiled down to one 32-bit word (a polynomial over its bytes, with its length known to be w);
// the bucket's words are compared in shared memory.
extern "C" __global__ void __launch_bounds__(64) bucketdup(const unsigned char* __restrict__ dict, const int* __restrict__ ref,
                                                           int* __restrict__ leader, int n, int d, int w)
{
    __shared__ unsigned print[64];
    int t = threadIdx.x;
    int i = blockIdx.x * 64 + t;
    if (i < n) {
        const unsigned char* mine = dict + (size_t)(ref[i] % d) * w;
        unsigned h = 5381u;
        for (int b = 0; b < w; ++b) h = h * 33u + mine[b];
        print[t] = h;
    }
    __syncthreads();
    if (i >= n) return;
    unsigned h = print[t];
    int j = 0;
    while (j < t && print[j] != h) ++j;
    leader[i] = blockIdx.x * 64 + j;
}
