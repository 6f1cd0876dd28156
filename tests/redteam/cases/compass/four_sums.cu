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
    float e[4] = {}, o[4] = {}, q[4] = {};
    for (int i = t; i < n; i += 512) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            int j = i + 128 * k;
            float w = j < n ? speed[row + j] : calm;
            if (w > calm) {
                float s, c;
                sincospif((float)dir[row + j] / 180.0f, &s, &c);
                e[k] = fmaf(w, s, e[k]);
                o[k] = fmaf(w, c, o[k]);
                q[k] += w;
                ++count;
            }
        }
    }
    east = (e[0] + e[1]) + (e[2] + e[3]);
    north = (o[0] + o[1]) + (o[2] + o[3]);
    sum = (q[0] + q[1]) + (q[2] + q[3]);
    su[t] = east;
    sv[t] = north;
    ss[t] = sum;
    sc[t] = count;
    __syncthreads();
    if (t >= 32) return;
    for (int k = 32; k < 128; k += 32) {
        su[t] += su[t + k];
        sv[t] += sv[t + k];
        ss[t] += ss[t + k];
        sc[t] += sc[t + k];
    }
    __syncwarp();
    for (int k = 16; k > 0; k >>= 1) {
        if (t < k) {
            su[t] += su[t + k];
            sv[t] += sv[t + k];
            ss[t] += ss[t + k];
            sc[t] += sc[t + k];
        }
        __syncwarp();
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
