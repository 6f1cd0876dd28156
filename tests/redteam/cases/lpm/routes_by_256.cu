// Where packets go: of the routes whose first bits are an address's the longest, and the first of those as long. What
// has no route stays (-1). The packets of each route are counted.
constexpr int kRoutes = 256;

// Routes come into shared memory by 256, each with its mask, for four packets of a thread. Among those the largest of
// 256 * length + 255 - place is the longest one, and the first.
__global__ void lpm(const unsigned* address, const unsigned* prefix, const int* bits, int* hop, int* traffic, int n,
                    int routes) {
    __shared__ uint2 route[kRoutes];
    __shared__ int rank[kRoutes];
    unsigned mine[4];
    int best[4], longest[4], first = blockIdx.x * 4 * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        int i = first + k * blockDim.x;
        mine[k] = i < n ? address[i] : 0;
        best[k] = longest[k] = -1;
    }
    for (int from = 0; from < routes; from += kRoutes) {
        int here = min(kRoutes, routes - from);
        __syncthreads();
        for (int r = threadIdx.x; r < here; r += blockDim.x) {
            int b = min(max(bits[from + r], 0), 32);
            unsigned mask = b ? ~0u << (32 - b) : 0;
            route[r] = make_uint2(prefix[from + r] & mask, mask);
            rank[r] = 256 * b + 255 - r;
        }
        __syncthreads();
        int top[4] = {-1, -1, -1, -1};
        for (int r = 0; r < here; ++r) {
            uint2 its = route[r];
            int key = rank[r];
            for (int k = 0; k < 4; ++k)
                if ((mine[k] & its.y) == its.x) top[k] = max(top[k], key);
        }
        for (int k = 0; k < 4; ++k)
            if (top[k] >= 0 && top[k] / 256 > longest[k]) {
                longest[k] = top[k] / 256;
                best[k] = from + 255 - top[k] % 256;
            }
    }
    for (int k = 0; k < 4; ++k) {
        int i = first + k * blockDim.x;
        if (i >= n) continue;
        hop[i] = best[k];
        if (best[k] >= 0) atomicAdd(&traffic[best[k]], 1);
    }
}
