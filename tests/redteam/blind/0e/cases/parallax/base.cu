#include <cuda_runtime.h>
#include <math.h>

// Angular separation of two sightings of each star. Directions need not be
// normalised; the angle comes from atan2(|u x v|, u . v), which keeps its
// relative precision from tiny shifts up to opposite directions.
// A sighting of zero length has no direction: separation 0.

__device__ double crossLength(float ax, float ay, float az,
                              float bx, float by, float bz)
{
    double cx = (double)ay * bz - (double)az * by;
    double cy = (double)az * bx - (double)ax * bz;
    double cz = (double)ax * by - (double)ay * bx;
    return sqrt(cx * cx + cy * cy + cz * cz);
}

__global__ void parallax(const float* u, const float* v, float* angle, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float ax = u[3 * i], ay = u[3 * i + 1], az = u[3 * i + 2];
    float bx = v[3 * i], by = v[3 * i + 1], bz = v[3 * i + 2];

    double s = crossLength(ax, ay, az, bx, by, bz);
    double c = (double)ax * bx + (double)ay * by + (double)az * bz;

    if (s == 0.0 && c == 0.0) angle[i] = 0.0f;
    else                      angle[i] = (float)atan2(s, c);
}
