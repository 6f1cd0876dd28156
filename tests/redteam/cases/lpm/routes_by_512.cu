// Where packets go: of the routes whose first bits are an address's the longest, and the first of those as long. What
// has no route stays (-1). The packets of each route are counted.
constexpr int kRoutes = 512;

// A block has 512 routes, in shared memory with their masks, and 256 packets. Whoever finds a longer route than the one
// that a packet has sends it there.
__global__ void lpm(const unsigned* address, const unsigned* prefix, const int* bits, int* hop, int* traffic, int n,
                    int routes) {
    __shared__ uint2 route[kRoutes];
    __shared__ int length[kRoutes];
    int from = blockIdx.y * kRoutes, here = min(kRoutes, routes - from);
    for (int r = threadIdx.x; r < here; r += blockDim.x) {
        int b = min(max(bits[from + r], 0), 32);
        unsigned mask = b ? ~0u << (32 - b) : 0;
        route[r] = make_uint2(prefix[from + r] & mask, mask);
        length[r] = b;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned mine = address[i];
    int best = -1, longest = -1;
    for (int r = 0; r < here; ++r) {
        uint2 its = route[r];
        if ((mine & its.y) == its.x && length[r] > longest) {
            longest = length[r];
            best = from + r;
        }
    }
    if (blockIdx.y == 0) {
        hop[i] = best;
    } else {
        int other = hop[i];
        if (best < 0 || (other >= 0 && min(max(bits[other], 0), 32) >= longest)) return;
        hop[i] = best;
        if (other >= 0) atomicSub(&traffic[other], 1);
    }
    if (best >= 0) atomicAdd(&traffic[best], 1);
}
