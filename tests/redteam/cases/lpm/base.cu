// Where packets go: of the routes whose first bits are an address's the longest, and the first of those as long. What
// has no route stays (-1). The packets of each route are counted.
__global__ void lpm(const unsigned* address, const unsigned* prefix, const int* bits, int* hop, int* traffic, int n,
                    int routes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = -1, longest = -1;
    for (int r = 0; r < routes; ++r) {
        int b = min(max(bits[r], 0), 32);
        unsigned mask = b ? ~0u << (32 - b) : 0;
        if (((address[i] ^ prefix[r]) & mask) == 0 && b > longest) {
            longest = b;
            best = r;
        }
    }
    hop[i] = best;
    if (best >= 0) atomicAdd(&traffic[best], 1);
}
