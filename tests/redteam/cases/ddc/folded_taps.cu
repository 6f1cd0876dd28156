// A sample is under taps/rate filters. The block mixes it once and keeps the product in shared memory,
// a chunk of the block's window at a time. A linear phase filter is the same from both ends: where the
// window is one chunk, its taps are folded, which halves the multiplications.
#define CHUNK 2048

__global__ void ddc(const int* sample, const float* table, const float* tap, const int* start, const int* step,
                    float* out, int outputs, int rate, int taps, int channels) {
    __shared__ float2 mixed[CHUNK];
    int channel = blockIdx.y;
    int first = blockIdx.x * blockDim.x;
    int here = min((int)blockDim.x, outputs - first);
    int j = threadIdx.x;
    size_t length = (size_t)outputs * rate + taps;
    const int* x = sample + channel * length;
    unsigned phase = (unsigned)start[channel], increment = (unsigned)step[channel];
    unsigned origin = (unsigned)first * rate;
    int window = (here - 1) * rate + taps;
    float re = 0.0f, im = 0.0f;
    int lane = j & 31, half = taps / 2;
    bool folded = window <= CHUNK && __all_sync(0xffffffffu, lane >= half || tap[lane] == tap[taps - 1 - lane]);
    for (int base = 0; base < window; base += CHUNK) {
        int count = min(CHUNK, window - base);
        for (int i = j; i < count; i += blockDim.x) {
            unsigned n = origin + base + i;
            unsigned slot = (phase + increment * n) >> 22;
            float v = (float)x[n];
            mixed[i] = make_float2(v * table[2 * slot], v * table[2 * slot + 1]);
        }
        __syncthreads();
        if (j < here) {
            int shift = base - j * rate;
            int low = max(0, shift), high = min(taps, shift + count);
            if (folded) {
                const float2* v = mixed + j * rate;
                for (int t = 0; t < half; ++t) {
                    re += tap[t] * (v[t].x + v[taps - 1 - t].x);
                    im -= tap[t] * (v[t].y + v[taps - 1 - t].y);
                }
                low = half;
                high = taps - half;
            }
            for (int t = low; t < high; ++t) {
                float2 v = mixed[t - shift];
                re += tap[t] * v.x;
                im -= tap[t] * v.y;
            }
        }
        __syncthreads();
    }
    if (j < here) {
        size_t at = 2 * ((size_t)channel * outputs + first + j);
        out[at] = re;
        out[at + 1] = im;
    }
}
