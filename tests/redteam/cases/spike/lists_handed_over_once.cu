// Currents of a layer of spiking cells: each input that spiked adds its row of weights.
__global__ void spike(const unsigned char* s, const float* w, float* y, int ins, int outs) {
    // Those that spiked among a thousand inputs, in order.
    __shared__ unsigned short list[1024];
    __shared__ int many;
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    const unsigned char* of = s + (size_t)r * ins;
    float sum = 0.f;
    for (int first = 0; first < ins; first += 1024) {
        if (threadIdx.x < 32) {
            int lane = threadIdx.x, at = 0;
            for (int b = 0; b < 1024 && first + b < ins; b += 32) {
                bool mine = first + b + lane < ins && of[first + b + lane];
                unsigned on = __ballot_sync(~0u, mine);
                if (mine) list[at + __popc(on & ((1u << lane) - 1))] = b + lane;
                at += __popc(on);
            }
            if (lane == 0) many = at;
        }
        __syncthreads();
        if (o < outs)
            for (int k = 0; k < many; ++k) sum += w[(size_t)(first + list[k]) * outs + o];
    }
    if (o < outs) y[(size_t)r * outs + o] = sum;
}
