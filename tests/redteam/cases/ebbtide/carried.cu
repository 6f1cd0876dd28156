// A thread takes eight times in a row. The angle is divided once for the first of them and
// then carried on by the advance per step, with a turn taken off whenever it is full.
#define TURN 21600000
#define ROW 8

extern "C" __global__ void ebbtide(const int* speed, const float* amp, const int* phase, float* height,
                                   int n, int tones, int stations, int step)
{
    int i0 = (blockIdx.x * blockDim.x + threadIdx.x) * ROW;
    int s = blockIdx.y;
    if (i0 >= n || s >= stations)
        return;
    float sum[ROW];
#pragma unroll
    for (int j = 0; j < ROW; j++)
        sum[j] = 0.0f;
    for (int k = 0; k < tones; k++) {
        long long v = speed[k];
        int advance = (int)(v * step % TURN);
        int r = (int)((v * ((long long)i0 * step) + 60ll * phase[s * tones + k]) % TURN);
        float a = amp[s * tones + k];
#pragma unroll
        for (int j = 0; j < ROW; j++) {
            int c = r > TURN / 2 ? r - TURN : r;
            sum[j] += a * cospif((float)c / (TURN / 2));
            r += advance;
            if (r >= TURN)
                r -= TURN;
        }
    }
    float* out = height + (size_t)s * n;
#pragma unroll
    for (int j = 0; j < ROW; j++)
        if (i0 + j < n)
            out[i0 + j] = sum[j];
}
