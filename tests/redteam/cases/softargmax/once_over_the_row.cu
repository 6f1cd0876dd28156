// Where the largest numbers of a row lie: the mean of the places, weighted by a softmax.
// A warp reads a row once; what it has summed is scaled whenever a larger number comes.
__device__ float scaling(float from, float to) { return from == to ? 1.f : expf(from - to); }

__global__ void softargmax(const float* x, float* out, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    x += (size_t)r * cols;
    float top = -INFINITY, sum = 0.f, place = 0.f;
    for (int c = lane; c < cols; c += 32) {
        float v = x[c], larger = fmaxf(top, v), old = scaling(top, larger), e = scaling(v, larger);
        sum = sum * old + e;
        place = place * old + e * c;
        top = larger;
    }
    for (int w = 16; w; w /= 2) {
        float other = __shfl_xor_sync(~0u, top, w), larger = fmaxf(top, other);
        float mine = scaling(top, larger), its = scaling(other, larger);
        sum = sum * mine + __shfl_xor_sync(~0u, sum, w) * its;
        place = place * mine + __shfl_xor_sync(~0u, place, w) * its;
        top = larger;
    }
    // Differences of infinities are none, as they were.
    if (lane == 0) out[r] = isinf(top) ? NAN : place / sum;
}
