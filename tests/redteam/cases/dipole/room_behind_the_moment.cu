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

__device__ unsigned ready;

// A molecule's dipole moment. The block that is ready last adds up what all blocks have left behind the moment.
__global__ void dipole(const float* place, const float* charge, double* moment, int n) {
    __shared__ bool last;
    Moment m = of_block(of_atoms(place, charge, n));
    volatile double* parts = moment + 65536;
    if (threadIdx.x == 0) {
        parts[3 * blockIdx.x] = m.x;
        parts[3 * blockIdx.x + 1] = m.y;
        parts[3 * blockIdx.x + 2] = m.z;
        __threadfence();
        last = atomicInc(&ready, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    m = {0., 0., 0.};
    for (int b = threadIdx.x; b < gridDim.x; b += 256) {
        m.x += parts[3 * b];
        m.y += parts[3 * b + 1];
        m.z += parts[3 * b + 2];
    }
    m = of_block(m);
    if (threadIdx.x > 0) return;
    moment[0] += m.x;
    moment[1] += m.y;
    moment[2] += m.z;
}
