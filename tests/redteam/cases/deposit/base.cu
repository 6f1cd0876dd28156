// The charge of particles on a ring of cells, shared between the two that each lies between.
__global__ void deposit(const float* x, float* charge, int n, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = __fmul_rn(x[i], cells), f = floorf(p), right = p - f;
    int c = (int)f % cells;
    if (c < 0) c += cells;
    atomicAdd(&charge[c], 1.f - right);
    atomicAdd(&charge[c + 1 == cells ? 0 : c + 1], right);
}
