// The vector mean of wind observations, a block for each station: direction in whole degrees, speed in m/s.
// Observations that are not above `calm` are left out, and so are missing ones (speed NaN).
// u, v: mean components; steady: length of the vector mean over the mean speed; counted: observations used.
__global__ void compass(const short* dir, const float* speed, float* u, float* v, float* steady, int* counted,
                        int stations, int n, float calm) {
    __shared__ float su[128], sv[128], ss[128];
    __shared__ int sc[128];
    int t = threadIdx.x;
    long long row = (long long)blockIdx.x * n;
    float east = 0.0f, north = 0.0f, sum = 0.0f;
    int count = 0;
    for (int i = t; i < n; i += 128) {
        float w = speed[row + i];
        if (w <= calm) continue;
        float s, c;
        sincospif((float)dir[row + i] / 180.0f, &s, &c);
        east += w * s;
        north += w * c;
        sum += w;
        ++count;
    }
    su[t] = east;
    sv[t] = north;
    ss[t] = sum;
    sc[t] = count;
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k) {
            su[t] += su[t + k];
            sv[t] += sv[t + k];
            ss[t] += ss[t + k];
            sc[t] += sc[t + k];
        }
        __syncthreads();
    }
    if (t == 0) {
        int total = sc[0];
        counted[blockIdx.x] = total;
        if (total == 0) {
            u[blockIdx.x] = v[blockIdx.x] = steady[blockIdx.x] = 0.0f;
        } else {
            u[blockIdx.x] = su[0] / (float)total;
            v[blockIdx.x] = sv[0] / (float)total;
            steady[blockIdx.x] = sqrtf(su[0] * su[0] + sv[0] * sv[0]) / ss[0];
        }
    }
}
