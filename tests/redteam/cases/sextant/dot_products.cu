// For every ship the great-circle distance (km) to the nearest and to the farthest of the ports.
// Positions in radians. A port off the chart (or not a number) counts for nothing; without any port left, and
// for a ship off the chart, the answer is +infinity (nearest) and -1 (farthest).
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ bool charted(float lat, float lon) {
    return fabsf(lat) <= 1.5707964f && fabsf(lon) <= 3.1415927f;
}

// Ports become unit vectors, 128 at a time in shared memory; the dot product in double is the cosine of the angle.
extern "C" __global__ void sextant(const float* ship_lat, const float* ship_lon, const float* port_lat, const float* port_lon,
                                   float* nearest, float* farthest, int ships, int ports) {
    __shared__ double px[128], py[128], pz[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = 0.0, y = 0.0, z = 0.0;
    if (i < ships) {
        double lat = ship_lat[i], lon = ship_lon[i], s, c;
        sincos(lon, &s, &c);
        double k = cos(lat);
        x = charted(ship_lat[i], ship_lon[i]) ? k * c : CUDART_NAN;
        y = k * s;
        z = sin(lat);
    }
    double most = -CUDART_INF, least = CUDART_INF;
    for (int first = 0; first < ports; first += 128) {
        int many = min(128, ports - first);
        __syncthreads();
        if (threadIdx.x < many) {
            double lat = port_lat[first + threadIdx.x], lon = port_lon[first + threadIdx.x], s, c;
            sincos(lon, &s, &c);
            double k = cos(lat);
            bool known = charted(port_lat[first + threadIdx.x], port_lon[first + threadIdx.x]);
            px[threadIdx.x] = known ? k * c : CUDART_NAN;
            py[threadIdx.x] = k * s;
            pz[threadIdx.x] = sin(lat);
        }
        __syncthreads();
        for (int j = 0; j < many; ++j) {
            double dot = px[j] * x + py[j] * y + pz[j] * z;
            most = fmax(most, dot);
            least = fmin(least, dot);
        }
    }
    if (i >= ships) return;
    nearest[i] = most > -CUDART_INF ? (float)(6371.0 * acos(fmin(1.0, fmax(-1.0, most)))) : CUDART_INF_F;
    farthest[i] = least < CUDART_INF ? (float)(6371.0 * acos(fmin(1.0, fmax(-1.0, least)))) : -1.0f;
}
