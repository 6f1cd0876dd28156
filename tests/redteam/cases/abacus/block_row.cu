// Absolute difference of long decimal numbers; one block of 256 threads per row, one limb per thread and round.
// Each warp publishes whether its 32 limbs make a borrow or pass one on; every warp then ripples over those below it.
#define LIMB 1000000000u

extern "C" __global__ void __launch_bounds__(256)
abacus(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
       unsigned* __restrict__ d, int* __restrict__ sign, int n, int m)
{
    const unsigned ALL = 0xffffffffu;
    __shared__ unsigned makes_of[8], passes_of[8];
    __shared__ int lead;
    int row = blockIdx.x, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const unsigned* x = a + (size_t)row * m;
    const unsigned* y = b + (size_t)row * m;
    unsigned* out = d + (size_t)row * m;

    if (tid == 0) lead = -1;
    __syncthreads();
    int mine = -1;
    for (int i = tid; i < m; i += 256)
        if (x[i] != y[i]) mine = i;
    mine = __reduce_max_sync(ALL, mine);
    if (lane == 0 && mine >= 0) atomicMax(&lead, mine);
    __syncthreads();
    int s = lead < 0 ? 0 : (x[lead] > y[lead] ? 1 : -1);
    if (s < 0) { const unsigned* t = x; x = y; y = t; }

    unsigned in = 0;                                   // into the lowest limb of this round
    for (int first = 0; first < m; first += 256) {
        int i = first + tid;
        unsigned p = i < m ? x[i] : 1u, q = i < m ? y[i] : 0u;
        unsigned long long makes = __ballot_sync(ALL, p < q);
        unsigned long long passes = __ballot_sync(ALL, p == q);
        if (lane == 0) {
            makes_of[warp] = (unsigned)(((passes + (makes << 1)) ^ passes) >> 32) & 1u;
            passes_of[warp] = passes == 0xffffffffull;
        }
        __syncthreads();
        unsigned mineIn = in, run = in;
        for (int w = 0; w < 8; w++) {
            if (w == warp) mineIn = run;
            run = makes_of[w] | (passes_of[w] & run);
        }
        in = run;
        unsigned long long into = (passes + ((makes << 1) | mineIn)) ^ passes;
        unsigned need = q + (unsigned)((into >> lane) & 1);
        if (i < m) out[i] = p < need ? p + LIMB - need : p - need;
    }
    if (tid == 0) sign[row] = s;
}
