// The division by d becomes a multiplication by 1/d in double: 53 bits hold every 32-bit key with 21 bits to spare.
extern "C" __global__ void slotting(const unsigned* __restrict__ key, unsigned* __restrict__ slot, unsigned* __restrict__ count,
                                    int n, int d, int r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double inv = 1.0 / (double)d;
    unsigned q = (unsigned)((double)key[i] * inv);
    unsigned s = q % (unsigned)r;
    slot[i] = s;
    atomicAdd(&count[s], 1u);
}
