// Phase accumulators as in a tone generator: a turn is 2^32, so that reduction is what
// unsigned arithmetic does by itself. Advances and phases are turned into such words once
// per block and tone.
#define TURN 21600000
#define PART 64

static __device__ __forceinline__ unsigned word(long long parts)
{
    return (unsigned)(((unsigned long long)(parts % TURN) << 32) / TURN);
}

extern "C" __global__ void ebbtide(const int* speed, const float* amp, const int* phase, float* height,
                                   int n, int tones, int stations, int step)
{
    __shared__ unsigned start[PART], advance[PART];
    __shared__ float size[PART];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = blockIdx.y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < tones; k0 += PART) {
        int here = min(PART, tones - k0);
        __syncthreads();
        for (int k = threadIdx.x; k < here; k += blockDim.x) {
            advance[k] = word((long long)speed[k0 + k] * step);
            start[k] = word(60ll * phase[s * tones + k0 + k]);
            size[k] = amp[s * tones + k0 + k];
        }
        __syncthreads();
        for (int k = 0; k < here; k++) {
            int r = (int)(start[k] + advance[k] * (unsigned)i);
            sum += size[k] * cospif((float)r * (1.0f / 2147483648.0f));
        }
    }
    if (i < n)
        height[(size_t)s * n + i] = sum;
}
