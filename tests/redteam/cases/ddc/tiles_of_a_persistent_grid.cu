// A persistent grid: a block takes one tile of 128 outputs after another. The first thread divides once
// and hands channel and tile to the others in one word.
#define CHUNK 2048

__global__ void ddc(const int* sample, const float* table, const float* tap, const int* start, const int* step,
                    float* out, int outputs, int rate, int taps, int channels) {
    __shared__ float2 mixed[CHUNK];
    __shared__ unsigned place;
    int tiles = (outputs + 127) / 128;
    size_t length = (size_t)outputs * rate + taps;
    int j = threadIdx.x;
    for (unsigned item = blockIdx.x;; item += gridDim.x) {
        if (j == 0) {
            unsigned row = item / tiles;
            place = row << 10 | (item - row * tiles);
            if (item >= (unsigned)tiles * channels) place = 0xffffffffu;
        }
        __syncthreads();
        unsigned word = place;
        if (word == 0xffffffffu) return;
        int channel = word >> 10;
        int first = (word & 1023) * 128;
        int here = min(128, outputs - first);
        const int* x = sample + channel * length;
        unsigned phase = (unsigned)start[channel], increment = (unsigned)step[channel];
        unsigned origin = (unsigned)first * rate;
        int window = (here - 1) * rate + taps;
        float re = 0.0f, im = 0.0f;
        for (int base = 0; base < window; base += CHUNK) {
            int count = min(CHUNK, window - base);
            for (int i = j; i < count; i += 128) {
                unsigned n = origin + base + i;
                unsigned slot = (phase + increment * n) >> 22;
                float v = (float)x[n];
                mixed[i] = make_float2(v * table[2 * slot], v * table[2 * slot + 1]);
            }
            __syncthreads();
            if (j < here) {
                int shift = base - j * rate;
                int low = max(0, shift), high = min(taps, shift + count);
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
}
