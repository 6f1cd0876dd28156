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

// Ports in tiles of 128; the last tile is filled up with its last port, so that the inner loop unrolls without a tail.
extern "C" __global__ void sextant(const float* ship_lat, const float* ship_lon, const float* port_lat, const float* port_lon,
                                   float* nearest, float* farthest, int ships, int ports) {
    __shared__ double tlat[128], tlon[128], tcos[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int own = min(i, ships - 1);
    double lat = ship_lat[own], lon = ship_lon[own], c = charted(ship_lat[own], ship_lon[own]) ? cos(lat) : CUDART_NAN;
    double low = CUDART_INF, high = -CUDART_INF;
    for (int first = 0; first < ports; first += 128) {
        int j = min(first + (int)threadIdx.x, ports - 1);
        tlat[threadIdx.x] = port_lat[j];
        tlon[threadIdx.x] = port_lon[j];
        tcos[threadIdx.x] = charted(port_lat[j], port_lon[j]) ? cos((double)port_lat[j]) : CUDART_NAN;
        __syncthreads();
#pragma unroll 4
        for (int t = 0; t < 128; ++t) {
            double a = sin(0.5 * (tlat[t] - lat));
            double b = sin(0.5 * (tlon[t] - lon));
            double h = a * a + c * tcos[t] * b * b;
            low = fmin(low, h);
            high = fmax(high, h);
        }
        __syncthreads();
    }
    nearest[own] = low < CUDART_INF ? (float)kilometres(low) : CUDART_INF_F;
    farthest[own] = high > -CUDART_INF ? (float)kilometres(high) : -1.0f;
}
