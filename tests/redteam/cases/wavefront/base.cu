// The next commands of deformable mirrors, in place: what was there leaks away, and what the sensors' slopes ask for by
// the control matrix is added.
__global__ void wavefront(const float* slope, const float* control, float* command, int mirrors, int sensors,
                          int actuators, float leak, float gain) {
    int a = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (a >= actuators || m >= mirrors) return;
    float sum = 0;
    for (int s = 0; s < sensors; ++s) sum += slope[(size_t)m * sensors + s] * control[(size_t)s * actuators + a];
    size_t i = (size_t)m * actuators + a;
    command[i] = leak * command[i] + gain * sum;
}
