// Currents of a layer of spiking cells: each input that spiked adds its row of weights.
__global__ void spike(const unsigned char* s, const float* w, float* y, int ins, int outs) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (o >= outs) return;
    float sum = 0.f;
    for (int j = 0; j < ins; ++j)
        if (s[(size_t)r * ins + j]) sum += w[(size_t)j * outs + o];
    y[(size_t)r * outs + o] = sum;
}
