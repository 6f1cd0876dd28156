// Values at places between samples: a mean of all, weighted by one over the square of the distance. Where
// there is a sample it is taken itself, the first of several. Samples come in tiles of 256.
__global__ void idw(const int* qx, const int* qy, const int* sx, const int* sy, const float* sv, float* out, int n,
                    int m) {
    __shared__ int tx[256], ty[256];
    __shared__ float tv[256];
    int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x;
    int x0 = i < n ? qx[i] : 0, y0 = i < n ? qy[i] : 0;
    float sum = 0.f, weights = 0.f, hit = 0.f;
    bool met = false;
    for (int k0 = 0; k0 < m; k0 += 256) {
        int many = m - k0;
        if (t < many) tx[t] = sx[k0 + t], ty[t] = sy[k0 + t], tv[t] = sv[k0 + t];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 256; ++k) {
            float x = x0 - tx[k], y = y0 - ty[k], d = x * x + y * y;
            if (d == 0.f) {
                if (!met) hit = tv[k];
                met = true;
            } else {
                float w = 1.f / d;
                sum += tv[k] * w;
                weights += w;
            }
        }
        __syncthreads();
    }
    if (i < n) out[i] = met ? hit : sum / weights;
}
