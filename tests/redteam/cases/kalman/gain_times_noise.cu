// Scalar Kalman filter of each series (time after time); NaN is a missing observation.
__global__ void kalman(const float* z, const float* q, const float* r, float* est, float* var, int series, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float x = 0.0f, p = 1.0f;
    float qi = q[i], ri = r[i] + 0.5f;
    for (int t = 0; t < n; t++) {
        float v = z[(long long)t * series + i];
        p += qi;
        if (v == v) {
            float k = p / (p + ri);
            x += k * (v - x);
            p = k * ri;
        }
    }
    est[i] = x;
    var[i] = p;
}
