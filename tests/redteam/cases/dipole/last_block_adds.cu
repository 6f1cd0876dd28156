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

__device__ Moment parts[264];
__device__ unsigned ready;

// A molecule's dipole moment. The block that is ready last adds up what all blocks have.
__global__ void dipole(const float* place, const float* charge, double* moment, int n) {
    __shared__ bool last;
    Moment m = of_block(of_atoms(place, charge, n));
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = m;
        __threadfence();
        last = atomicInc(&ready, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    m = {0., 0., 0.};
    for (int b = threadIdx.x; b < gridDim.x; b += 256) {
        m.x += __ldcg(&parts[b].x);
        m.y += __ldcg(&parts[b].y);
        m.z += __ldcg(&parts[b].z);
    }
    m = of_block(m);
    if (threadIdx.x > 0) return;
    moment[0] += m.x;
    moment[1] += m.y;
    moment[2] += m.z;
}
