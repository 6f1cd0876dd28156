// Harmonic tide prediction. height[s][i] is the sum over the tones of
// amp[s][k] * cos(speed[k] * time + phase[s][k]) at the time i * step minutes. Speeds are in
// thousandths of a degree per hour, phases in thousandths of a degree, so that the angle is
// a whole number of parts of 1/21600000 turn and is reduced exactly.
#define TURN 21600000

extern "C" __global__ void ebbtide(const int* speed, const float* amp, const int* phase, float* height,
                                   int n, int tones, int stations, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = blockIdx.y;
    if (i >= n || s >= stations)
        return;
    long long minute = (long long)i * step;
    float sum = 0.0f;
    for (int k = 0; k < tones; k++) {
        long long angle = speed[k] * minute + 60ll * phase[s * tones + k];
        int r = (int)(angle % TURN);
        if (r > TURN / 2)
            r -= TURN;
        sum += amp[s * tones + k] * cospif((float)r / (TURN / 2));
    }
    height[(size_t)s * n + i] = sum;
}
