// A warp for each station, sums in doubles.
__global__ void compass(const short* dir, const float* speed, float* u, float* v, float* steady, int* counted,
                        int stations, int n, float calm) {
    int lane = threadIdx.x & 31;
    int station = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (station >= stations) return;
    const short* d = dir + (long long)station * n;
    const float* w = speed + (long long)station * n;
    double east = 0.0, north = 0.0, sum = 0.0;
    int count = 0;
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        float x = i < n ? w[i] : calm;
        bool used = x > calm;
        count += __popc(__ballot_sync(0xffffffffu, used));
        if (used) {
            float s, c;
            sincospif((float)d[i] / 180.0f, &s, &c);
            east += x * s;
            north += x * c;
            sum += x;
        }
    }
    for (int k = 1; k < 32; k *= 2) {
        east += __shfl_xor_sync(0xffffffffu, east, k);
        north += __shfl_xor_sync(0xffffffffu, north, k);
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    }
    if (lane == 0) {
        float a = (float)east, b = (float)north, c = (float)sum;
        counted[station] = count;
        u[station] = count ? a / (float)count : 0.0f;
        v[station] = count ? b / (float)count : 0.0f;
        steady[station] = count ? sqrtf(a * a + b * b) / c : 0.0f;
    }
}
