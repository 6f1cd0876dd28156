// Scalar Kalman filter of each series (time after time); NaN is a missing observation.
__global__ void kalman(const float* z, const float* q, const float* r, float* est, float* var, int series, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float x = 0.0f, p = 1.0f;
    float qi = q[i], ri = r[i] + 0.5f;
    float k = 0.0f;
    bool kept = false;
    for (int t = 0; t < n; t++) {
        float v = z[(long long)t * series + i];
        if (v == v) {
            if (!kept) {
                float top = p + qi;
                k = top / (top + ri);
                float next = top * ri / (top + ri);
                kept = fabsf(next - p) < 1e-7f;
                p = next;
            }
            x += k * (v - x);
        } else {
            p += qi;
            kept = false;
        }
    }
    est[i] = x;
    var[i] = p;
}
