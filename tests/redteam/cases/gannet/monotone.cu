// Trips of sea birds; the greatest distance belongs to the greatest haversine, so that angle is taken once at the end,
// and the cosine of a latitude is kept for the next leg.
#define RADIUS 6371008.8
#define RAD 0.017453292519943295

__device__ __forceinline__ double angle(double h)
{
    h = fmin(h, 1.0);
    return 2.0 * atan2(sqrt(h), sqrt(1.0 - h));
}

__device__ __forceinline__ double hav(float la, float lo, double ca, float lb, float lp, double cb)
{
    double u = sin(0.5 * RAD * ((double)lb - (double)la));
    double w = sin(0.5 * RAD * ((double)lp - (double)lo));
    return u * u + ca * cb * w * w;
}

extern "C" __global__ void gannet(const float* __restrict__ lat, const float* __restrict__ lon,
                                  float* __restrict__ length, float* __restrict__ farthest, int trips, int fixes)
{
    int trip = blockIdx.x * blockDim.x + threadIdx.x;
    if (trip >= trips) return;
    const float* la = lat + (size_t)trip * fixes;
    const float* lo = lon + (size_t)trip * fixes;

    double sum = 0.0, top = 0.0, c0 = 1.0, c1 = 1.0;
    float la0 = 0.0f, lo0 = 0.0f, la1 = 0.0f, lo1 = 0.0f;
    bool begun = false;
    for (int j = 0; j < fixes; j++) {
        float p = la[j], q = lo[j];
        if (!(fabsf(p) <= 90.0f && fabsf(q) <= 360.0f)) continue;
        double c = cos(RAD * (double)p);
        if (begun) {
            sum += angle(hav(la1, lo1, c1, p, q, c));
            top = fmax(top, hav(la0, lo0, c0, p, q, c));
        } else {
            la0 = p;
            lo0 = q;
            c0 = c;
            begun = true;
        }
        la1 = p;
        lo1 = q;
        c1 = c;
    }
    length[trip] = (float)(RADIUS * sum);
    farthest[trip] = (float)(RADIUS * angle(top));
}
