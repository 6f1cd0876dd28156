#include <cstdint>

// A warp for each pair. Where two sites agree both have a 1 or both a 0: agree = 2 both + people - a - b.
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
    int a = 0, b = 0, agree = 0;
    for (int base = 0; base < people; base += 32) {
        int k = min(base + lane, people - 1);
        bool live = base + lane < people;
        unsigned p = __ballot_sync(0xffffffffu, live && x[k]);
        unsigned q = __ballot_sync(0xffffffffu, live && y[k]);
        a += __popc(p);
        b += __popc(q);
        agree += __popc(~(p ^ q));
    }
    int both = (agree - people + a + b) / 2;
    if (lane == 0) {
        long long d = (long long)people * both - (long long)a * b;
        double spread = ((double)a * (people - a)) * ((double)b * (people - b));
        r2[t] = spread > 0.0 ? (float)((double)d * (double)d / spread) : 0.0f;
    }
}
