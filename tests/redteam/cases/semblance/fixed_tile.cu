// Semblance of a gather of seismic traces: how alike the traces are along each trial moveout.
// traces[tr * nt + t] are samples, shift[v * ntr + tr] is the moveout of trace tr at trial velocity v, in samples.
// out[v * nt + t] = (sum over the window of (sum over traces)^2) / (sum over the window of live * (sum of squares)),
// where samples outside a trace are left out and live is how many traces are inside. Where there is no energy, or it
// is not a number, the semblance is 0.

#define SIDE 64

// What one time adds to a window that it is in.
__device__ float2 of_time(const float *__restrict__ traces, const int *__restrict__ shift, int ntr, int nt, int u)
{
    float stack = 0.0f, squares = 0.0f;
    int live = 0;
    for (int tr = 0; tr < ntr; ++tr) {
        int s = u + shift[tr];
        if (s >= 0 && s < nt) {
            float x = traces[(size_t)tr * nt + s];
            stack += x;
            squares += x * x;
            ++live;
        }
    }
    return make_float2(stack * stack, live * squares);
}

__global__ void semblance(const float *__restrict__ traces, const int *__restrict__ shift, float *__restrict__ out,
                          int ntr, int nt, int nv, int half)
{
    __shared__ float2 times[128 + 2 * SIDE];
    int reach = min(half, SIDE);
    int first = blockIdx.x * blockDim.x - reach;
    int v = blockIdx.y;
    for (int k = threadIdx.x; k < blockDim.x + 2 * reach; k += blockDim.x)
        times[k] = of_time(traces, shift + v * ntr, ntr, nt, first + k);
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nt)
        return;
    float coherent = 0.0f, energy = 0.0f;
    for (int k = 0; k <= 2 * reach; ++k) {
        coherent += times[threadIdx.x + k].x;
        energy += times[threadIdx.x + k].y;
    }
    out[(size_t)v * nt + t] = energy > 0.0f ? coherent / energy : 0.0f;
}
