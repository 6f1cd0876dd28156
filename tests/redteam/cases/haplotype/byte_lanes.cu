#include <cstdint>

// Linkage disequilibrium: the squared correlation r2 of the alleles (0 or 1) of each site with those of the w sites
// after it, over all haplotypes. Zero where a site does not vary, and beyond the last site.
__global__ void haplotype(const uint8_t* allele, float* r2, int sites, int people, int w) {
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= (long long)sites * w) return;
    int i = (int)(t / w), j = i + 1 + (int)(t % w);
    if (j >= sites) {
        r2[t] = 0.0f;
        return;
    }
    const uint8_t* x = allele + (long long)i * people;
    const uint8_t* y = allele + (long long)j * people;
    int a = 0, b = 0, both = 0;
    int k = 0;
    while (k + 4 <= people) {
        // four haplotypes at a time, a count in each byte
        unsigned sa = 0, sb = 0, sab = 0;
        for (int step = 0; step < 255 && k + 4 <= people; ++step, k += 4) {
            unsigned p = x[k] | x[k + 1] << 8 | x[k + 2] << 16 | (unsigned)x[k + 3] << 24;
            unsigned q = y[k] | y[k + 1] << 8 | y[k + 2] << 16 | (unsigned)y[k + 3] << 24;
            sa += p;
            sb += q;
            sab += p & q;
        }
        a += __vsadu4(sa, 0);
        b += __vsadu4(sb, 0);
        both += __vsadu4(sab, 0);
    }
    for (; k < people; ++k) {
        a += x[k];
        b += y[k];
        both += x[k] & y[k];
    }
    long long d = (long long)people * both - (long long)a * b;
    double spread = ((double)a * (people - a)) * ((double)b * (people - b));
    r2[t] = spread > 0.0 ? (float)((double)d * (double)d / spread) : 0.0f;
}
