#include <cuda_runtime.h>
#include <math.h>

__global__ void parallax(const float* u, const float* v, float* angle, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float ax = u[3 * i], ay = u[3 * i + 1], az = u[3 * i + 2];
    float bx = v[3 * i], by = v[3 * i + 1], bz = v[3 * i + 2];

    // float throughout: fma keeps the differences of the cross product.
    // Double is many times slower here and the result is a float anyway.
    float cx = fmaf(ay, bz, -(az * by));
    float cy = fmaf(az, bx, -(ax * bz));
    float cz = fmaf(ax, by, -(ay * bx));
    // Kahan: add back what the rounded products lost
    cx += fmaf(-az, by, az * by);
    cy += fmaf(-ax, bz, ax * bz);
    cz += fmaf(-ay, bx, ay * bx);
    float s = norm3df(cx, cy, cz);
    // the dot product with its rounding errors
    float p = ax * bx, q = ay * by, r = az * bz;
    float e = fmaf(ax, bx, -p) + fmaf(ay, by, -q) + fmaf(az, bz, -r);
    float c = ((p + q) + r) + e;
    angle[i] = (s == 0.0f && c == 0.0f) ? 0.0f : atan2f(s, c);
}
