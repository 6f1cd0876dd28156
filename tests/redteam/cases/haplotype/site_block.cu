#include <cstdint>

// A block for each site: its alleles as bits in shared memory, then a warp for each of the sites after it.
__global__ void haplotype(const uint8_t* allele, float* r2, int sites, int people, int w) {
    extern __shared__ unsigned bits[];
    __shared__ int ones;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    int i = blockIdx.x, words = (people + 31) / 32;
    const uint8_t* x = allele + (long long)i * people;
    if (threadIdx.x == 0) ones = 0;
    __syncthreads();
    int mine = 0;
    for (int word = warp; word < words; word += warps) {
        int k = word * 32 + lane;
        unsigned p = __ballot_sync(0xffffffffu, k < people && x[k]);
        if (lane == 0) bits[word] = p;
        mine += __popc(p);
    }
    if (lane == 0 && mine) atomicAdd(&ones, mine);
    __syncthreads();
    int a = ones;
    for (int c = warp; c < w; c += warps) {
        float result = 0.0f;
        if (c < sites - 1 - i) {
            const uint8_t* y = x + (long long)(c + 1) * people;
            int b = 0, both = 0;
            for (int k = lane; k < people; k += 32) {
                int v = y[k];
                b += v;
                both += v & (bits[k >> 5] >> lane);
            }
            b = __reduce_add_sync(0xffffffffu, b);
            both = __reduce_add_sync(0xffffffffu, both);
            long long d = (long long)people * both - (long long)a * b;
            double spread = ((double)a * (people - a)) * ((double)b * (people - b));
            if (spread > 0.0) result = (float)((double)d * (double)d / spread);
        }
        if (lane == 0) r2[(long long)i * w + c] = result;
    }
}
