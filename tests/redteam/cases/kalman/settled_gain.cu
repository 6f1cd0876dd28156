// Scalar Kalman filter of each series (time after time); NaN is a missing observation.
__global__ void kalman(const float* z, const float* q, const float* r, float* est, float* var, int series, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float x = 0.0f, p = 1.0f;
    float qi = q[i], ri = r[i] + 0.5f;
    bool settled = false;
    float k = 0.0f, was = -1.0f, top = 0.0f;
    for (int t = 0; t < n; t++) {
        float v = z[(long long)t * series + i];
        if (v == v) {
            if (!settled) {
                top = p + qi;
                k = top / (top + ri);
                p = top * ri / (top + ri);
                settled = p == was;
                was = p;
            }
            x += k * (v - x);
        } else {
            p += qi;
        }
    }
    est[i] = x;
    var[i] = p;
}
