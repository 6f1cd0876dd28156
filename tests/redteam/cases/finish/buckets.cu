// Places in races: 1 + how many were faster, and how many share the place. Not a number: did not
// finish, 0 and 0.
__global__ void finish(const float* time, int* place, int* shared, int n)
{
    const float* t = time + (size_t)blockIdx.y * n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int before[257];
    __shared__ float low[256], high[256];
    float least = __int_as_float(0x7f800000), most = -least;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        least = fminf(least, t[j]);
        most = fmaxf(most, t[j]);
    }
    low[threadIdx.x] = least;
    high[threadIdx.x] = most;
    before[threadIdx.x] = 0;
    __syncthreads();
    for (int h = 128; h > 0; h /= 2) {
        if (threadIdx.x < h) {
            low[threadIdx.x] = fminf(low[threadIdx.x], low[threadIdx.x + h]);
            high[threadIdx.x] = fmaxf(high[threadIdx.x], high[threadIdx.x + h]);
        }
        __syncthreads();
    }
    // rounding keeps the order of buckets; what is in the same one is compared
    float base = low[0], scale = 255.0f / (high[0] - low[0]);
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        if (t[j] == t[j]) atomicAdd(&before[(int)fminf((t[j] - base) * scale, 255.0f)], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < 256; b++) {
            int c = before[b];
            before[b] = sum;
            sum += c;
        }
    }
    __syncthreads();
    if (i >= n) return;
    float mine = t[i];
    int bucket = (int)fminf((mine - base) * scale, 255.0f);
    int faster = mine == mine ? before[bucket] : 0, same = 0;
    for (int j = 0; j < n; j++) {
        float v = t[j];
        faster += v < mine && (int)fminf((v - base) * scale, 255.0f) == bucket;
        same += v == mine;
    }
    bool out = mine != mine;
    place[(size_t)blockIdx.y * n + i] = out ? 0 : faster + 1;
    shared[(size_t)blockIdx.y * n + i] = out ? 0 : same;
}
