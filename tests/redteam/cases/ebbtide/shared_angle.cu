// The angle of a tone is the same at all stations but for their phases: it is reduced once
// for eight stations, and a phase added afterwards takes off at most one turn.
#define TURN 21600000
#define GROUP 8

extern "C" __global__ void ebbtide(const int* speed, const float* amp, const int* phase, float* height,
                                   int n, int tones, int stations, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s0 = blockIdx.y * GROUP;
    if (i >= n)
        return;
    long long minute = (long long)i * step;
    float sum[GROUP];
#pragma unroll
    for (int g = 0; g < GROUP; g++)
        sum[g] = 0.0f;
    for (int k = 0; k < tones; k++) {
        int r = (int)(speed[k] * minute % TURN);
#pragma unroll
        for (int g = 0; g < GROUP; g++) {
            int s = min(s0 + g, stations - 1);
            int c = r + 60 * phase[s * tones + k];
            if (c >= TURN)
                c -= TURN;
            if (c > TURN / 2)
                c -= TURN;
            sum[g] += amp[s * tones + k] * cospif((float)c / (TURN / 2));
        }
    }
#pragma unroll
    for (int g = 0; g < GROUP; g++)
        if (s0 + g < stations)
            height[(size_t)(s0 + g) * n + i] = sum[g];
}
