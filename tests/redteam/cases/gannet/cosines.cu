// Trips of sea birds; every fix becomes a point of the unit sphere once, and the angle between two of them
// comes from their scalar product, all in double precision.
#define RADIUS 6371008.8
#define RAD 0.017453292519943295

struct Place { double x, y, z; };

__device__ __forceinline__ Place place(float lat, float lon)
{
    double sa, ca, so, co;
    sincos(RAD * (double)lat, &sa, &ca);
    sincos(RAD * (double)lon, &so, &co);
    return { ca * co, ca * so, sa };
}

__device__ __forceinline__ double angle(const Place& a, const Place& b)
{
    double c = a.x * b.x + a.y * b.y + a.z * b.z;
    return acos(fmax(-1.0, fmin(1.0, c)));
}

extern "C" __global__ void gannet(const float* __restrict__ lat, const float* __restrict__ lon,
                                  float* __restrict__ length, float* __restrict__ farthest, int trips, int fixes)
{
    int trip = blockIdx.x * blockDim.x + threadIdx.x;
    if (trip >= trips) return;
    const float* la = lat + (size_t)trip * fixes;
    const float* lo = lon + (size_t)trip * fixes;

    double sum = 0.0, far = 0.0;
    Place nest = { 1.0, 0.0, 0.0 }, before = nest;
    bool begun = false;
    for (int j = 0; j < fixes; j++) {
        float p = la[j], q = lo[j];
        if (!(fabsf(p) <= 90.0f && fabsf(q) <= 360.0f)) continue;
        Place here = place(p, q);
        if (begun) {
            sum += angle(before, here);
            far = fmax(far, angle(nest, here));
        } else {
            nest = here;
            begun = true;
        }
        before = here;
    }
    length[trip] = (float)(RADIUS * sum);
    farthest[trip] = (float)(RADIUS * far);
}
