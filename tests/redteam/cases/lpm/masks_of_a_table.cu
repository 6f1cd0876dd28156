// Where packets go: of the routes whose first bits are an address's the longest, and the first of those as long. What
// has no route stays (-1). The packets of each route are counted.
__constant__ unsigned kMask[33] = {
    0x00000000, 0x80000000, 0xc0000000, 0xe0000000, 0xf0000000, 0xf8000000, 0xfc000000, 0xfe000000, 0xff000000,
    0xff800000, 0xffc00000, 0xffe00000, 0xfff00000, 0xfff80000, 0xfffc0000, 0xfffe0000, 0xffff0000, 0xffff8000,
    0xffffc000, 0xffffe000, 0xfffff000, 0xfffff800, 0xfffffc00, 0xfffffe00, 0xffffff00, 0xffffff80, 0xffffffc0,
    0xffffffe0, 0xfffffff0, 0xfffffff8, 0xfffffffc, 0xfffffffe, 0xffffffff};

// All threads look at the same route at once: its mask is one of 33 constants. Packets of a warp that go the same way
// are counted together.
__global__ void lpm(const unsigned* address, const unsigned* prefix, const int* bits, int* hop, int* traffic, int n,
                    int routes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned mine = address[i];
    int best = -1, longest = -1;
#pragma unroll 4
    for (int r = 0; r < routes; ++r) {
        int b = min(max(__ldg(bits + r), 0), 32);
        if (((mine ^ __ldg(prefix + r)) & kMask[b]) == 0 && b > longest) {
            longest = b;
            best = r;
        }
    }
    hop[i] = best;
    unsigned same = __match_any_sync(__activemask(), best);
    if (best >= 0 && threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&traffic[best], __popc(same));
}
