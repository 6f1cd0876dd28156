// A station's amplitudes and phases and the speeds are read once into shared memory; a
// block then goes over its times without touching the tables in global memory again.
#define TURN 21600000
#define TONES 256

extern "C" __global__ void ebbtide(const int* speed, const float* amp, const int* phase, float* height,
                                   int n, int tones, int stations, int step)
{
    __shared__ int v[TONES], p[TONES];
    __shared__ float a[TONES];
    int s = blockIdx.y;
    for (int k = threadIdx.x; k < tones; k += blockDim.x) {
        v[k] = speed[k];
        p[k] = 60 * phase[s * tones + k];
        a[k] = amp[s * tones + k];
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        long long minute = (long long)i * step;
        float sum = 0.0f;
        for (int k = 0; k < tones; k++) {
            int r = (int)((v[k] * minute + p[k]) % TURN);
            if (r > TURN / 2)
                r -= TURN;
            sum += a[k] * cospif((float)r / (TURN / 2));
        }
        height[(size_t)s * n + i] = sum;
    }
}
