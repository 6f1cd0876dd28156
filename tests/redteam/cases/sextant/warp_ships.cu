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

// A warp per ship: the lanes share the ports out, and the extremes meet by shuffles.
extern "C" __global__ void sextant(const float* ship_lat, const float* ship_lon, const float* port_lat, const float* port_lon,
                                   float* nearest, float* farthest, int ships, int ports) {
    int lane = threadIdx.x & 31;
    int i = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (i >= ships) return;
    double lat = ship_lat[i], lon = ship_lon[i], c = cos(lat);
    bool here = charted(ship_lat[i], ship_lon[i]);
    double low = CUDART_INF, high = -CUDART_INF;
    for (int j = lane; j < ports; j += 32) {
        if (!here || !charted(port_lat[j], port_lon[j])) continue;
        double a = sin(0.5 * (port_lat[j] - lat));
        double b = sin(0.5 * (port_lon[j] - lon));
        double h = a * a + c * cos((double)port_lat[j]) * b * b;
        if (h < low) low = h;
        if (h > high) high = h;
    }
    for (int d = 16; d; d >>= 1) {
        low = fmin(low, __shfl_xor_sync(0xffffffffu, low, d));
        high = fmax(high, __shfl_xor_sync(0xffffffffu, high, d));
    }
    if (lane == 0) {
        nearest[i] = low < CUDART_INF ? (float)kilometres(low) : CUDART_INF_F;
        farthest[i] = high > -CUDART_INF ? (float)kilometres(high) : -1.0f;
    }
}
