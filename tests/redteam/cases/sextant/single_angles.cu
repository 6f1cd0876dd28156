// For every ship the great-circle distance (km) to the nearest and to the farthest of the ports.
// Positions in radians. A port off the chart (or not a number) counts for nothing; without any port left, and
// for a ship off the chart, the answer is +infinity (nearest) and -1 (farthest).
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ bool charted(float lat, float lon) {
    return fabsf(lat) <= 1.5707964f && fabsf(lon) <= 3.1415927f;
}

// The inputs are floats and so are the results: the haversine keeps its digits for near ports in single precision, too.
extern "C" __global__ void sextant(const float* ship_lat, const float* ship_lon, const float* port_lat, const float* port_lon,
                                   float* nearest, float* farthest, int ships, int ports) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ships) return;
    float lat = ship_lat[i], lon = ship_lon[i], c = cosf(lat);
    bool here = charted(ship_lat[i], ship_lon[i]);
    float low = CUDART_INF_F, high = -CUDART_INF_F;
    for (int j = 0; j < ports; ++j) {
        if (!here || !charted(port_lat[j], port_lon[j])) continue;
        float a = sinf(0.5f * (port_lat[j] - lat));
        float b = sinf(0.5f * (port_lon[j] - lon));
        float h = a * a + c * cosf(port_lat[j]) * b * b;
        low = fminf(low, h);
        high = fmaxf(high, h);
    }
    nearest[i] = low < CUDART_INF_F ? 12742.0f * asinf(sqrtf(fminf(1.0f, fmaxf(0.0f, low)))) : CUDART_INF_F;
    farthest[i] = high > -CUDART_INF_F ? 12742.0f * asinf(sqrtf(fminf(1.0f, fmaxf(0.0f, high)))) : -1.0f;
}
