// The next commands of deformable mirrors, in place: what was there leaks away, and what the sensors' slopes ask for by
// the control matrix is added.
// Four sums, so that no product waits for the last one.
__global__ void wavefront(const float* slope, const float* control, float* command, int mirrors, int sensors,
                          int actuators, float leak, float gain) {
    int a = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (a >= actuators || m >= mirrors) return;
    const float* mine = slope + (size_t)m * sensors;
    const float* column = control + a;
    float p = 0, q = 0, r = 0, t = 0;
    for (int s = 0; s + 3 < sensors; s += 4) {
        p += mine[s] * column[(size_t)s * actuators];
        q += mine[s + 1] * column[(size_t)(s + 1) * actuators];
        r += mine[s + 2] * column[(size_t)(s + 2) * actuators];
        t += mine[s + 3] * column[(size_t)(s + 3) * actuators];
    }
    if (sensors & 2) {
        p += mine[sensors - 2] * column[(size_t)(sensors - 2) * actuators];
        q += mine[sensors - 1] * column[(size_t)(sensors - 1) * actuators];
    }
    if (sensors & 1) r += mine[sensors - 1] * column[(size_t)(sensors - 1) * actuators];
    size_t i = (size_t)m * actuators + a;
    command[i] = leak * command[i] + gain * ((p + q) + (r + t));
}
