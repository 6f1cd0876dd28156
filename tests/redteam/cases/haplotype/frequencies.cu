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
    for (int k = 0; k < people; ++k) {
        a += x[k];
        b += y[k];
        both += x[k] & y[k];
    }
    float pa = (float)a / people, pb = (float)b / people;
    float d = (float)both / people - pa * pb;
    float spread = pa * (1.0f - pa) * pb * (1.0f - pb);
    r2[t] = spread > 0.0f ? d * d / spread : 0.0f;
}
