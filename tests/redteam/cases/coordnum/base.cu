#include <cuda_runtime.h>

// Coordination numbers as the dispersion correction wants them: every other atom counts
// 1 / (1 + exp(-16 (R / r - 1))), R the covalent radii of both (bohr). Far atoms count 1e-7 each,
// which is seen in large systems. Places are in units of the box's edge; element 0 is hydrogen,
// 17 argon, and whatever is heavier goes as argon.
__device__ const float radius[18] = {
    0.80f, 1.16f, 3.02f, 2.31f, 1.93f, 1.83f, 1.76f, 1.59f, 1.61f,
    1.70f, 3.52f, 3.15f, 2.80f, 2.65f, 2.57f, 2.43f, 2.50f, 2.42f,
};

extern "C" __global__ void coordnum(const float* place, const unsigned char* element, float* cn,
                                    int n, float edge) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float x = place[3 * (size_t)i] * edge;
    float y = place[3 * (size_t)i + 1] * edge;
    float z = place[3 * (size_t)i + 2] * edge;
    float own = radius[min((int)element[i], 17)];
    double sum = 0.0;
    for (int j = 0; j < n; j++) {
        if (j == i) {
            continue;
        }
        float dx = place[3 * (size_t)j] * edge - x;
        float dy = place[3 * (size_t)j + 1] * edge - y;
        float dz = place[3 * (size_t)j + 2] * edge - z;
        float r = sqrtf(dx * dx + dy * dy + dz * dz);
        float both = own + radius[min((int)element[j], 17)];
        sum += 1.0f / (1.0f + expf(-16.0f * (both / r - 1.0f)));
    }
    cn[i] = (float)sum;
}
