// Currents of a layer of spiking cells: each input that spiked adds its row of weights.
__global__ void spike(const unsigned char* s, const float* w, float* y, int ins, int outs) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    int lane = threadIdx.x & 31;
    const unsigned char* of = s + (size_t)r * ins;
    float sum = 0.f;
    // A warp reads 32 inputs at once and goes from one that spiked to the next.
    for (int b = 0; b < ins; b += 32) {
        unsigned on = __ballot_sync(~0u, b + lane < ins && of[b + lane]);
        for (; on; on &= on - 1) {
            int j = b + __ffs(on) - 1;
            if (o < outs) sum += w[(size_t)j * outs + o];
        }
    }
    if (o < outs) y[(size_t)r * outs + o] = sum;
}
