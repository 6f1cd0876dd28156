#include <cstdint>

// A warp for each pair: 32 haplotypes are a word of bits.
__global__ void haplotype(const uint8_t* allele, float* r2, int sites, int people, int w) {
    int lane = threadIdx.x & 31;
    long long t = (long long)blockIdx.x * 4 + (threadIdx.x >> 5);
    if (t >= (long long)sites * w) return;
    int i = (int)(t / w), j = i + 1 + (int)(t % w);
    if (j >= sites) {
        if (lane == 0) r2[t] = 0.0f;
        return;
    }
    const uint8_t* x = allele + (long long)i * people;
    const uint8_t* y = allele + (long long)j * people;
    int a = 0, b = 0, differ = 0;
    for (int base = 0; base < people; base += 32) {
        int k = base + lane;
        unsigned p = __ballot_sync(0xffffffffu, k < people && x[k]);
        unsigned q = __ballot_sync(0xffffffffu, k < people && y[k]);
        a += __popc(p);
        b += __popc(q);
        differ += __popc(p ^ q);
    }
    int both = (a + b - differ) / 2;
    if (lane == 0) {
        long long d = (long long)people * both - (long long)a * b;
        double spread = ((double)a * (people - a)) * ((double)b * (people - b));
        r2[t] = spread > 0.0 ? (float)((double)d * (double)d / spread) : 0.0f;
    }
}
