// Currents of a layer of spiking cells: each input that spiked adds its row of weights.
__global__ void spike(const unsigned char* s, const float* w, float* y, int ins, int outs) {
    // Those that spiked, in order: half of the inputs are quiet.
    __shared__ int list[1024];
    __shared__ int many;
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    const unsigned char* of = s + (size_t)r * ins;
    if (threadIdx.x < 32) {
        int lane = threadIdx.x, at = 0;
        for (int b = 0; b < ins; b += 32) {
            bool mine = b + lane < ins && of[b + lane];
            unsigned on = __ballot_sync(~0u, mine);
            int place = at + __popc(on & ((1u << lane) - 1));
            if (mine && place < 1024) list[place] = b + lane;
            at += __popc(on);
        }
        if (lane == 0) many = min(at, 1024);
    }
    __syncthreads();
    if (o >= outs) return;
    float sum = 0.f;
    for (int k = 0; k < many; ++k) sum += w[(size_t)list[k] * outs + o];
    y[(size_t)r * outs + o] = sum;
}
