// For every ship the great-circle distance (km) to the nearest and to the farthest of the ports.
// Positions in radians. A port off the chart (or not a number) counts for nothing; without any port left, and
// for a ship off the chart, the answer is +infinity (nearest) and -1 (farthest).
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ bool charted(float lat, float lon) {
    return fabsf(lat) <= 1.5707964f && fabsf(lon) <= 3.1415927f;
}

// Kilometres from the square of half the chord.
__device__ double kilometres(double h) {
    if (h <= 0.0) return 0.0;
    if (h >= 1.0) return 6371.0 * CUDART_PI;
    return 12742.0 * asin(sqrt(h));
}

// A port whose meridian alone puts it between the nearest and the farthest so far costs no sine: 0.45 of an angle
// is never more than the sine of its half, and 0.5 of it never less.
extern "C" __global__ void sextant(const float* ship_lat, const float* ship_lon, const float* port_lat, const float* port_lon,
                                   float* nearest, float* farthest, int ships, int ports) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ships) return;
    double lat = ship_lat[i], lon = ship_lon[i], c = cos(lat);
    bool here = charted(ship_lat[i], ship_lon[i]);
    double low = CUDART_INF, high = -CUDART_INF;
    for (int j = 0; j < ports; ++j) {
        if (!here || !charted(port_lat[j], port_lon[j])) continue;
        double e = port_lat[j] - lat, f = port_lon[j] - lon;
        double k = c * cos((double)port_lat[j]);
        double least = k * (0.45 * f) * (0.45 * f);
        double most = 0.25 * e * e + k * 0.25 * f * f;
        if (least > low && most < high) continue;
        double a = sin(0.5 * e), b = sin(0.5 * f);
        double h = a * a + k * b * b;
        low = fmin(low, h);
        high = fmax(high, h);
    }
    nearest[i] = low < CUDART_INF ? (float)kilometres(low) : CUDART_INF_F;
    farthest[i] = high > -CUDART_INF ? (float)kilometres(high) : -1.0f;
}
