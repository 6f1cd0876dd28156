// A molecule's dipole moment: charges times where they are, added to what is there already.
__global__ void dipole(const float* place, const float* charge, double* moment, int n) {
    __shared__ double part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    for (int axis = 0; axis < 3; ++axis) {
        part[t] = i < n ? (double)place[3 * (size_t)i + axis] * charge[i] : 0.;
        __syncthreads();
        for (int w = 128; w > 0; w /= 2) {
            if (t < w) part[t] += part[t + w];
            __syncthreads();
        }
        if (t == 0) atomicAdd(moment + axis, part[0]);
        __syncthreads();
    }
}
