// Level and overflow live in one register: the level in the low 16 bits, the overflow above it.
extern "C" __global__ void cistern(const int* __restrict__ flow, const int* __restrict__ start,
                                   const int* __restrict__ cap, int* __restrict__ level, int* __restrict__ spill,
                                   int rows, int steps)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* f = flow + (size_t)r * steps;
    int* out = level + (size_t)r * steps;
    const int top = cap[r];
    unsigned state = (unsigned)start[r];
    for (int t = 0; t < steps; t++) {
        int v = (int)(state & 0xffffu) + f[t];
        unsigned extra = (unsigned)max(v - top, 0);
        v = max(min(v, top), 0);
        state = (state & 0xffff0000u) + (extra << 16) + (unsigned)v;
        out[t] = v;
    }
    spill[r] = (int)(state >> 16);
}
