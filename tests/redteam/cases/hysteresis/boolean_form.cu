// Set-reset form without branches: on = set | (on & keep).
extern "C" __global__ void hysteresis(const float* x, const float* centre, const float* width,
                                      unsigned char* state, int* flips, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float hi = centre[row] + width[row], lo = centre[row] - width[row];
    const float* in = x + (size_t)row * m;
    unsigned char* out = state + (size_t)row * m;
    unsigned on = 0, changes = 0;
    for (int i = 0; i < m; ++i) {
        float v = in[i];
        unsigned set = v > hi, keep = !(v < lo);
        unsigned now = set | (on & keep);
        changes += now ^ on;
        on = now;
        out[i] = (unsigned char)now;
    }
    flips[row] = (int)changes;
}
