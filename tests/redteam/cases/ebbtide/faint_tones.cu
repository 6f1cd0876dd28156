// Most of the time goes into the long division and the cosine. A tone of less than a tenth
// of a millimetre at a station is not worth either.
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
        float a = amp[s * tones + k];
        if (fabsf(a) < 0.0001f)
            continue;
        long long angle = speed[k] * minute + 60ll * phase[s * tones + k];
        int r = (int)(angle % TURN);
        if (r > TURN / 2)
            r -= TURN;
        sum += a * cospif((float)r / (TURN / 2));
    }
    height[(size_t)s * n + i] = sum;
}
