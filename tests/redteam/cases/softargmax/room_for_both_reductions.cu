// Where the largest numbers of a row lie: the mean of the places, weighted by a softmax.
__global__ void softargmax(const float* x, float* out, int rows, int cols) {
    __shared__ float part[8], where[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    x += (size_t)blockIdx.x * cols;
    float top = -INFINITY, sum = 0.f, place = 0.f;
    for (int c = threadIdx.x; c < cols; c += 256) top = fmaxf(top, x[c]);
    for (int w = 16; w; w /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, w));
    if (lane == 0) part[warp] = top;
    __syncthreads();
    for (int w = 0; w < 8; ++w) top = fmaxf(top, part[w]);
    for (int c = threadIdx.x; c < cols; c += 256) {
        float e = expf(x[c] - top);
        sum += e;
        place += e * c;
    }
    for (int w = 16; w; w /= 2) {
        sum += __shfl_xor_sync(~0u, sum, w);
        place += __shfl_xor_sync(~0u, place, w);
    }
    if (lane == 0) part[warp] = sum, where[warp] = place;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = place = 0.f;
        for (int w = 0; w < 8; ++w) sum += part[w], place += where[w];
        out[blockIdx.x] = place / sum;
    }
}
