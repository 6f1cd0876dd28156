// slot[i] = (key[i] / d) % r, and count[s] grows by the number of keys that fall into slot s.
extern "C" __global__ void slotting(const unsigned* key, unsigned* slot, unsigned* count, int n, int d, int r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = (key[i] / (unsigned)d) % (unsigned)r;
    slot[i] = s;
    atomicAdd(&count[s], 1u);
}
