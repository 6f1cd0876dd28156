// Trips of sea birds; a fix is turned into radians once, when it is read, instead of in each of the two arcs that it
// belongs to. Sines, cosines and sums stay in double precision.
#define RADIUS 6371008.8
#define RAD 0.017453292519943295

__device__ double arc(float la, float lo, float lb, float lp)
{
    double u = sin(0.5 * ((double)lb - (double)la));
    double w = sin(0.5 * ((double)lp - (double)lo));
    double h = u * u + cos((double)la) * cos((double)lb) * w * w;
    return 2.0 * asin(sqrt(fmin(h, 1.0)));
}

extern "C" __global__ void gannet(const float* __restrict__ lat, const float* __restrict__ lon,
                                  float* __restrict__ length, float* __restrict__ farthest, int trips, int fixes)
{
    int trip = blockIdx.x * blockDim.x + threadIdx.x;
    if (trip >= trips) return;
    const float* la = lat + (size_t)trip * fixes;
    const float* lo = lon + (size_t)trip * fixes;

    double sum = 0.0, far = 0.0;
    float la0 = 0.0f, lo0 = 0.0f, la1 = 0.0f, lo1 = 0.0f;
    bool begun = false;
    for (int j = 0; j < fixes; j++) {
        float p = la[j], q = lo[j];
        if (!(fabsf(p) <= 90.0f && fabsf(q) <= 360.0f)) continue;
        p = (float)(RAD * p);
        q = (float)(RAD * q);
        if (begun) {
            sum += arc(la1, lo1, p, q);
            far = fmax(far, arc(la0, lo0, p, q));
        } else {
            la0 = p;
            lo0 = q;
            begun = true;
        }
        la1 = p;
        lo1 = q;
    }
    length[trip] = (float)(RADIUS * sum);
    farthest[trip] = (float)(RADIUS * far);
}
