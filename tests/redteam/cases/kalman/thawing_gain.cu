// Scalar Kalman filter of each series (time after time); NaN is a missing observation.
__global__ void kalman(const float* z, const float* q, const float* r, float* est, float* var, int series, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float x = 0.0f, p = 1.0f;
    float qi = q[i], ri = r[i] + 0.5f;
    bool settled = false;
    float k = 0.0f;
    for (int t = 0; t < n; t++) {
        float v = z[(long long)t * series + i];
        if (v == v) {
            if (!settled) {
                float top = p + qi;
                k = top / (top + ri);
                float next = top * ri / (top + ri);
                settled = next == p;
                p = next;
            }
            x += k * (v - x);
        } else {
            p += qi;
            settled = false;
        }
    }
    est[i] = x;
    var[i] = p;
}
