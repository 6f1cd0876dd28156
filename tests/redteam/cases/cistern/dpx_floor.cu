// The clamp of a step is one DPX instruction; the overflow is read off the unclamped sum.
extern "C" __global__ void cistern(const int* __restrict__ flow, const int* __restrict__ start,
                                   const int* __restrict__ cap, int* __restrict__ level, int* __restrict__ spill,
                                   int rows, int steps)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    size_t base = (size_t)r * steps;
    const int top = cap[r];
    int v = start[r];
    int over = 0;
    #pragma unroll 4
    for (int t = 0; t < steps; t++) {
        int f = flow[base + t];
        over += max(v + f - top, 0);
        v = __viaddmin_s32_relu(v, f, top);      // max(min(v + f, top), 0)
        level[base + t] = v;
    }
    spill[r] = over;
}
