// Semblance of a gather of seismic traces: how alike the traces are along each trial moveout.
// traces[tr * nt + t] are samples, shift[v * ntr + tr] is the moveout of trace tr at trial velocity v, in samples.
// out[v * nt + t] = (sum over the window of (sum over traces)^2) / (sum over the window of live * (sum of squares)),
// where samples outside a trace are left out and live is how many traces are inside. Where there is no energy, or it
// is not a number, the semblance is 0.

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
    const int per = 8;
    int t = (blockIdx.x * blockDim.x + threadIdx.x) * per;
    int v = blockIdx.y;
    if (t >= nt)
        return;
    const int *moveout = shift + v * ntr;
    float coherent = 0.0f, energy = 0.0f;
    for (int w = -half; w <= half; ++w) {
        float2 here = of_time(traces, moveout, ntr, nt, t + w);
        coherent += here.x;
        energy += here.y;
    }
    for (int k = 0; k < per && t + k < nt; ++k) {
        if (k > 0) {
            float2 leaves = of_time(traces, moveout, ntr, nt, t + k - 1 - half);
            float2 enters = of_time(traces, moveout, ntr, nt, t + k + half);
            coherent += enters.x - leaves.x;
            energy += enters.y - leaves.y;
        }
        out[(size_t)v * nt + t + k] = energy > 0.0f ? fmaxf(coherent, 0.0f) / energy : 0.0f;
    }
}
