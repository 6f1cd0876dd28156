// Digital down-converter: every channel is mixed with its own oscillator, filtered and decimated.
// The oscillator is a 32 bit phase accumulator whose upper ten bits look up (cosine, sine).
__global__ void ddc(const int* sample, const float* table, const float* tap, const int* start, const int* step,
                    float* out, int outputs, int rate, int taps, int channels) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    int channel = blockIdx.y;
    if (m >= outputs) return;
    size_t length = (size_t)outputs * rate + taps;
    const int* x = sample + channel * length;
    float re = 0.0f, im = 0.0f;
    for (int t = 0; t < taps; ++t) {
        unsigned n = (unsigned)m * rate + t;
        unsigned slot = ((unsigned)start[channel] + (unsigned)step[channel] * n) >> 22;
        float v = (float)x[n];
        re += tap[t] * (v * table[2 * slot]);
        im -= tap[t] * (v * table[2 * slot + 1]);
    }
    size_t at = 2 * ((size_t)channel * outputs + m);
    out[at] = re;
    out[at + 1] = im;
}
