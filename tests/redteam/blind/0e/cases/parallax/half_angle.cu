#include <cuda_runtime.h>
#include <math.h>

__global__ void parallax(const float* u, const float* v, float* angle, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float ax = u[3 * i], ay = u[3 * i + 1], az = u[3 * i + 2];
    float bx = v[3 * i], by = v[3 * i + 1], bz = v[3 * i + 2];

    // Half-angle formula: tan(t/2) = |u x v| / (|u||v| + u.v); atan of one
    // argument, no quadrant logic.
    double cx = (double)ay * bz - (double)az * by;
    double cy = (double)az * bx - (double)ax * bz;
    double cz = (double)ax * by - (double)ay * bx;
    double s = sqrt(cx * cx + cy * cy + cz * cz);
    double c  = (double)ax * bx + (double)ay * by + (double)az * bz;
    double uu = (double)ax * ax + (double)ay * ay + (double)az * az;
    double vv = (double)bx * bx + (double)by * by + (double)bz * bz;
    double d = sqrt(uu * vv) + c;
    if (s == 0.0) { angle[i] = c < 0.0 ? 3.14159265358979f : 0.0f; return; }
    angle[i] = (float)(2.0 * atan(s / d));
}
