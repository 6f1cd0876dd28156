// Faces of an animation: the neutral one, and of each shape as much as the frame has of it.
// A block has 128 points of 32 frames, and 128 shapes at a time in shared memory.
__global__ void faces(const float* weight, const float* delta, const float* neutral, float* out, int frames, int shapes,
                      int points) {
    extern __shared__ float room[];
    float *own = room, *shape = room + 32 * 128;
    int t = threadIdx.x, v = t % 128, f0 = t / 128 * 16;
    size_t wide = ((size_t)points + 127) / 128, top = blockIdx.x / wide * 32, left = blockIdx.x % wide * 128;
    float sum[16] = {};
    for (long long c0 = 0; c0 < shapes; c0 += 128) {
        int many = (int)min((long long)shapes - c0, 128ll);
        for (int s = t; s < 32 * 128; s += 256)
            if (s % 128 < many) own[s] = top + s / 128 < frames ? weight[(top + s / 128) * shapes + c0 + s % 128] : 0.f;
        for (int s = t; s < many * 128; s += 256)
            shape[s] = left + s % 128 < points ? delta[(c0 + s / 128) * points + left + s % 128] : 0.f;
        __syncthreads();
        for (int c = 0; c < many; ++c) {
            float d = shape[c * 128 + v];
#pragma unroll
            for (int f = 0; f < 16; ++f) sum[f] += own[(f0 + f) * 128 + c] * d;
        }
        __syncthreads();
    }
    size_t j = left + v;
    if (j >= points) return;
#pragma unroll
    for (int f = 0; f < 16; ++f)
        if (top + f0 + f < frames) out[(top + f0 + f) * points + j] = neutral[j] + sum[f];
}
