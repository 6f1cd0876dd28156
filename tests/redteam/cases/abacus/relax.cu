// Absolute difference of long decimal numbers; one block per row.
// Limbs are subtracted without regard to borrows, then negative limbs take from their neighbours until none is left.
// With random digits two or three rounds do.
#define LIMB 1000000000

extern "C" __global__ void abacus(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                                  unsigned* __restrict__ d, int* __restrict__ sign, int n, int m)
{
    extern __shared__ int limb[];      // m limbs and one beyond the top that stays zero
    __shared__ int lead;
    int row = blockIdx.x, tid = threadIdx.x;
    const unsigned* x = a + (size_t)row * m;
    const unsigned* y = b + (size_t)row * m;

    if (tid == 0) lead = -1;
    __syncthreads();
    int mine = -1;
    for (int i = tid; i < m; i += blockDim.x) {
        limb[i] = (int)x[i] - (int)y[i];
        if (limb[i] != 0) mine = i;
    }
    if (tid == 0) limb[m] = 0;
    if (mine >= 0) atomicMax(&lead, mine);
    __syncthreads();
    int s = lead < 0 ? 0 : (limb[lead] > 0 ? 1 : -1);
    __syncthreads();
    if (s < 0)
        for (int i = tid; i < m; i += blockDim.x) limb[i] = -limb[i];

    int open = 1;
    while (open) {
        __syncthreads();
        // even limbs take from odd ones, then odd from even, so that no limb is written by two threads
        for (int i = 2 * tid; i < m; i += 2 * blockDim.x)
            if (limb[i] < 0) { limb[i] += LIMB; limb[i + 1] -= 1; }
        __syncthreads();
        for (int i = 2 * tid + 1; i < m; i += 2 * blockDim.x)
            if (limb[i] < 0) { limb[i] += LIMB; limb[i + 1] -= 1; }
        __syncthreads();
        int left = 0;
        for (int i = tid; i < m; i += blockDim.x) left |= limb[i] < 0;
        open = __syncthreads_or(left);
    }
    for (int i = tid; i < m; i += blockDim.x) d[(size_t)row * m + i] = (unsigned)limb[i];
    if (tid == 0) sign[row] = s;
}
