// The number of full turns is estimated in float; the remainder is taken in integers and put
// right, so that the angle is the exact one for all that.
#define TURN 21600000

extern "C" __global__ void ebbtide(const int* speed, const float* amp, const int* phase, float* height,
                                   int n, int tones, int stations, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = blockIdx.y;
    if (i >= n || s >= stations)
        return;
    // Speeds are whole, so that the tide repeats after TURN minutes.
    int minute = (int)((long long)i * step % TURN);
    float sum = 0.0f;
    for (int k = 0; k < tones; k++) {
        long long angle = (long long)speed[k] * minute + 60ll * phase[s * tones + k];
        long long turns = (long long)(__ll2float_rn(angle) * (1.0f / TURN));
        long long r = angle - turns * TURN;
        while (r < -(TURN / 2))
            r += TURN;
        while (r > TURN / 2)
            r -= TURN;
        sum += amp[s * tones + k] * cospif((float)(int)r / (TURN / 2));
    }
    height[(size_t)s * n + i] = sum;
}
