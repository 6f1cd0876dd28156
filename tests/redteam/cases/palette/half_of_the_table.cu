__device__ unsigned four(unsigned v, const unsigned char* table) {
    return table[v & 255] | table[v >> 8 & 255] << 8 | table[v >> 16 & 255] << 16 | (unsigned)table[v >> 24] << 24;
}

// Each byte of a picture becomes that of a table, in place; sixteen at a time.
__global__ void palette(unsigned char* img, const unsigned char* table, int n) {
    __shared__ unsigned char shared[256];
    if (threadIdx.x < 256) shared[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 16;
    if (i + 15 < n && (size_t)img % 16 == 0) {
        uint4 v = *(uint4*)(img + i);
        v = make_uint4(four(v.x, shared), four(v.y, shared), four(v.z, shared), four(v.w, shared));
        *(uint4*)(img + i) = v;
    } else {
        for (size_t k = i; k < min(i + 16, (size_t)n); ++k) img[k] = shared[img[k]];
    }
}
