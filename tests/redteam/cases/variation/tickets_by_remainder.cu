// The variation of a signal from one number to the next, and its energy.
__device__ float part_steps[256], part_squares[256];
__device__ unsigned arrived;

__global__ void variation(const float* x, float* out, int n) {
    __shared__ float steps[256], squares[256];
    __shared__ bool last;
    int t = threadIdx.x;
    float a = 0.f, b = 0.f;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) {
        b += x[i] * x[i];
        if (i > 0) a += fabsf(x[i] - x[i - 1]);
    }
    steps[t] = a;
    squares[t] = b;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            steps[t] += steps[t + d];
            squares[t] += squares[t + d];
        }
    }
    if (t == 0) {
        part_steps[blockIdx.x] = steps[0];
        part_squares[blockIdx.x] = squares[0];
        __threadfence();
        last = atomicAdd(&arrived, 1u) % gridDim.x == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    a = b = 0.f;
    for (int k = t; k < gridDim.x; k += 256) {
        a += __ldcg(&part_steps[k]);
        b += __ldcg(&part_squares[k]);
    }
    steps[t] = a;
    squares[t] = b;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            steps[t] += steps[t + d];
            squares[t] += squares[t + d];
        }
    }
    if (t == 0) {
        out[0] = steps[0];
        out[1] = squares[0];
    }
}
