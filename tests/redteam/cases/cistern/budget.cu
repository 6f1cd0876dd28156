// The overflow follows from the water budget: what came in, plus what was drawn in vain, less what is left.
extern "C" __global__ void cistern(const int* __restrict__ flow, const int* __restrict__ start,
                                   const int* __restrict__ cap, int* __restrict__ level, int* __restrict__ spill,
                                   int rows, int steps)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* f = flow + (size_t)r * steps;
    int* out = level + (size_t)r * steps;
    const int top = cap[r];
    int v = start[r];
    int in = v;
    int vain = 0;
    for (int t = 0; t < steps; t++) {
        int q = f[t];
        in += q;
        v += q;
        vain -= min(v, 0);
        v = min(max(v, 0), top);
        out[t] = v;
    }
    spill[r] = in + vain - v;
}
