// The quotient is first guessed through a double reciprocal; the remainder then tells whether it is one off.
extern "C" __global__ void slotting(const unsigned* __restrict__ key, unsigned* __restrict__ slot, unsigned* __restrict__ count,
                                    int n, int d, int r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double inv = 1.0 / (double)d;
    unsigned k = key[i];
    long long q = (long long)((double)k * inv);
    long long rest = (long long)k - q * d;
    if (rest < 0) --q;
    else if (rest >= d) ++q;
    unsigned s = (unsigned)q % (unsigned)r;
    slot[i] = s;
    atomicAdd(&count[s], 1u);
}
