// Values at places between samples: a mean of all, weighted by one over the square of the distance. Where
// there is a sample it is taken itself, the first of several.
__global__ void idw(const int* qx, const int* qy, const int* sx, const int* sy, const float* sv, float* out, int n,
                    int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.f, weights = 0.f;
    for (int k = 0; k < m; ++k) {
        float x = qx[i] - sx[k], y = qy[i] - sy[k], d = x * x + y * y;
        if (d == 0.f) {
            out[i] = sv[k];
            return;
        }
        sum += sv[k] / d;
        weights += 1.f / d;
    }
    out[i] = sum / weights;
}
