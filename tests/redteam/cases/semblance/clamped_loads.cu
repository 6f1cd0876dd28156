// Semblance of a gather of seismic traces: how alike the traces are along each trial moveout.
// traces[tr * nt + t] are samples, shift[v * ntr + tr] is the moveout of trace tr at trial velocity v, in samples.
// out[v * nt + t] = (sum over the window of (sum over traces)^2) / (sum over the window of live * (sum of squares)),
// where samples outside a trace are left out and live is how many traces are inside. Where there is no energy, or it
// is not a number, the semblance is 0.

__global__ void semblance(const float *__restrict__ traces, const int *__restrict__ shift, float *__restrict__ out,
                          int ntr, int nt, int nv, int half)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int v = blockIdx.y;
    if (t >= nt)
        return;
    float coherent = 0.0f, energy = 0.0f;
    for (int w = -half; w <= half; ++w) {
        float stack = 0.0f, squares = 0.0f;
        int live = 0;
        for (int tr = 0; tr < ntr; ++tr) {
            int s = t + w + shift[v * ntr + tr];
            bool inside = (unsigned)s < (unsigned)nt;
            float x = traces[(size_t)tr * nt + min(max(s, 0), nt - 1)];
            x = inside ? x : 0.0f;
            stack += x;
            squares = __fmaf_rn(x, x, squares);
            live += inside;
        }
        coherent += stack * stack;
        energy += live * squares;
    }
    out[(size_t)v * nt + t] = energy > 0.0f ? coherent / energy : 0.0f;
}
