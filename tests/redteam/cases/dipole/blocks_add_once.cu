struct Moment {
    double x, y, z;
};

__device__ Moment of_atoms(const float* place, const float* charge, int n) {
    Moment m = {0., 0., 0.};
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        double q = charge[i];
        m.x += place[3 * i] * q;
        m.y += place[3 * i + 1] * q;
        m.z += place[3 * i + 2] * q;
    }
    return m;
}

// The first thread has the block's sum.
__device__ Moment of_block(Moment m) {
    __shared__ Moment part[8];
    for (int w = 16; w > 0; w /= 2) {
        m.x += __shfl_down_sync(~0u, m.x, w);
        m.y += __shfl_down_sync(~0u, m.y, w);
        m.z += __shfl_down_sync(~0u, m.z, w);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
    __syncthreads();
    for (int w = 1; w < 8 && threadIdx.x == 0; ++w) {
        m.x += part[w].x;
        m.y += part[w].y;
        m.z += part[w].z;
    }
    return m;
}

// A molecule's dipole moment. Threads go through all atoms, and a block adds once.
__global__ void dipole(const float* place, const float* charge, double* moment, int n) {
    Moment m = of_block(of_atoms(place, charge, n));
    if (threadIdx.x > 0) return;
    atomicAdd(moment, m.x);
    atomicAdd(moment + 1, m.y);
    atomicAdd(moment + 2, m.z);
}
