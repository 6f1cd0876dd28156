// For every ship the great-circle distance (km) to the nearest and to the farthest of the ports.
// Positions in radians. A port off the chart (or not a number) counts for nothing; without any port left, and
// for a ship off the chart, the answer is +infinity (nearest) and -1 (farthest).
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ bool charted(float lat, float lon) {
    return fabsf(lat) <= 1.5707964f && fabsf(lon) <= 3.1415927f;
}

extern "C" __global__ void sextant(const float* ship_lat, const float* ship_lon, const float* port_lat, const float* port_lon,
                                   float* nearest, float* farthest, int ships, int ports) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ships) return;
    double lat = ship_lat[i], lon = ship_lon[i];
    bool here = charted(ship_lat[i], ship_lon[i]);
    double low = CUDART_INF, high = -1.0;
    for (int j = 0; j < ports; ++j) {
        if (!here || !charted(port_lat[j], port_lon[j])) continue;
        double a = sin(0.5 * (port_lat[j] - lat));
        double b = sin(0.5 * (port_lon[j] - lon));
        double h = a * a + cos(lat) * cos((double)port_lat[j]) * b * b;
        double d;
        if (h <= 0.0) d = 0.0;
        else if (h >= 1.0) d = 6371.0 * CUDART_PI;
        else d = 12742.0 * asin(sqrt(h));
        if (d < low) low = d;
        if (d > high) high = d;
    }
    nearest[i] = (float)low;
    farthest[i] = (float)high;
}
