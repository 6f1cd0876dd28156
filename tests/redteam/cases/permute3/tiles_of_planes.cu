// An array of three indices in another order: the first index becomes the last.
__global__ void permute3(const float* in, float* out, int na, int nb, int nc) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, across = (nc + 31) / 32;
    int c0 = blockIdx.x % across * 32, a0 = blockIdx.x / across * 32;
    for (int b = blockIdx.y; b < nb; b += gridDim.y) {
        for (int k = threadIdx.y; k < 32; k += 8)
            if (a0 + k < na && c0 + x < nc)
                tile[k][x] = in[((size_t)(a0 + k) * nb + b) * nc + c0 + x];
        __syncthreads();
        for (int k = threadIdx.y; k < 32; k += 8)
            if (c0 + k < nc && a0 + x < na)
                out[((size_t)b * nc + c0 + k) * na + a0 + x] = tile[x][k];
        __syncthreads();
    }
}
