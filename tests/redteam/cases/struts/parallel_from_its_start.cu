// Least distance of two segments in space, a0-a1 and b0-b1, for each pair of them; either may be a
// point, and they may be parallel.
__global__ void struts(const float* a0, const float* a1, const float* b0, const float* b1,
                       float* distance, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double u[3], v[3], r[3];
    double a = 0, b = 0, c = 0, e = 0, f = 0;
    for (int k = 0; k < 3; ++k) {
        u[k] = (double)a1[3 * i + k] - a0[3 * i + k];
        v[k] = (double)b1[3 * i + k] - b0[3 * i + k];
        r[k] = (double)a0[3 * i + k] - b0[3 * i + k];
        a += u[k] * u[k];
        b += u[k] * v[k];
        c += u[k] * r[k];
        e += v[k] * v[k];
        f += v[k] * r[k];
    }
    double s = 0, t = 0;
    if (a > 0 && e > 0) {
        double across = a * e - b * b;
        const bool parallel = across <= 1e-14 * a * e;
        if (!parallel) s = fmin(fmax((b * f - c * e) / across, 0.0), 1.0);
        t = (b * s + f) / e;
        if (parallel) {
            t = fmin(fmax(t, 0.0), 1.0);
        } else if (t < 0) {
            t = 0;
            s = fmin(fmax(-c / a, 0.0), 1.0);
        } else if (t > 1) {
            t = 1;
            s = fmin(fmax((b - c) / a, 0.0), 1.0);
        }
    } else if (a > 0) {
        s = fmin(fmax(-c / a, 0.0), 1.0);
    } else if (e > 0) {
        t = fmin(fmax(f / e, 0.0), 1.0);
    }
    double square = 0;
    for (int k = 0; k < 3; ++k) {
        double gap = r[k] + s * u[k] - t * v[k];
        square += gap * gap;
    }
    distance[i] = (float)sqrt(square);
}
