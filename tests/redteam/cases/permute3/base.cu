// An array of three indices in another order: the first index becomes the last.
__global__ void permute3(const float* in, float* out, int na, int nb, int nc) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)na * nb * nc) return;
    size_t a = i / ((size_t)nb * nc), rest = i % ((size_t)nb * nc);
    out[rest * na + a] = in[i];
}
