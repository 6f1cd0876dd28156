// The angle at the first time of a block is reduced once for each tone; its other times lie
// a few advances on, which is 32-bit arithmetic: one multiplication and one short division.
#define TURN 21600000u
#define BLOCK 128
#define PART 64

extern "C" __global__ void __launch_bounds__(BLOCK) ebbtide(const int* speed, const float* amp, const int* phase,
                                                            float* height, int n, int tones, int stations, int step)
{
    __shared__ unsigned start[PART], advance[PART];
    __shared__ float size[PART];
    int s = blockIdx.y, t = threadIdx.x;
    long long minute = (long long)blockIdx.x * BLOCK * step;
    float sum = 0.0f;
    for (int k0 = 0; k0 < tones; k0 += PART) {
        int here = min(PART, tones - k0);
        __syncthreads();
        for (int k = t; k < here; k += BLOCK) {
            long long v = speed[k0 + k];
            start[k] = (unsigned)((v * minute + 60ll * phase[s * tones + k0 + k]) % (long long)TURN);
            advance[k] = (unsigned)(v * step % (long long)TURN);
            size[k] = amp[s * tones + k0 + k];
        }
        __syncthreads();
        for (int k = 0; k < here; k++) {
            int r = (int)((start[k] + advance[k] * (unsigned)t) % TURN);
            if (r > (int)(TURN / 2))
                r -= (int)TURN;
            sum += size[k] * cospif((float)r / (int)(TURN / 2));
        }
    }
    int i = blockIdx.x * BLOCK + t;
    if (i < n)
        height[(size_t)s * n + i] = sum;
}
