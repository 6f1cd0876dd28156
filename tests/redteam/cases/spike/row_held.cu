// Currents of a layer of spiking cells: each input that spiked adds its row of weights.
__global__ void spike(const unsigned char* s, const float* w, float* y, int ins, int outs) {
    // The row of spikes is read once for all outputs of the block.
    extern __shared__ unsigned char of[];
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    for (int j = threadIdx.x; j < ins; j += blockDim.x) of[j] = s[(size_t)r * ins + j];
    __syncthreads();
    if (o >= outs) return;
    float sum = 0.f;
    for (int j = 0; j < ins; ++j)
        if (of[j]) sum += w[(size_t)j * outs + o];
    y[(size_t)r * outs + o] = sum;
}
