// The next commands of deformable mirrors, in place: what was there leaks away, and what the sensors' slopes ask for by
// the control matrix is added.
// Tiles of both in shared memory, and four mirrors of a thread with two sums for each.
__global__ void wavefront(const float* slope, const float* control, float* command, int mirrors, int sensors,
                          int actuators, float leak, float gain) {
    __shared__ float left[32][33], right[32][33];
    int a = blockIdx.x * 32 + threadIdx.x, m0 = blockIdx.y * 32;
    float even[4] = {}, odd[4] = {};
    for (int first = 0; first < sensors; first += 32) {
        int column = first + threadIdx.x;
        for (int k = threadIdx.y; k < 32; k += 8) {
            int m = m0 + k, s = first + k;
            left[k][threadIdx.x] = m < mirrors && column < sensors ? slope[(size_t)m * sensors + column] : 0;
            right[k][threadIdx.x] = s < sensors && a < actuators ? control[(size_t)s * actuators + a] : 0;
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 2) {
            float r = right[k][threadIdx.x], t = right[k + 1][threadIdx.x];
            for (int j = 0; j < 4; ++j) {
                even[j] += left[threadIdx.y + 8 * j][k] * r;
                odd[j] += left[threadIdx.y + 8 * j][k + 1] * t;
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) {
        int m = m0 + threadIdx.y + 8 * j;
        if (m >= mirrors || a >= actuators) continue;
        size_t i = (size_t)m * actuators + a;
        command[i] = leak * command[i] + gain * (even[j] + odd[j]);
    }
}
