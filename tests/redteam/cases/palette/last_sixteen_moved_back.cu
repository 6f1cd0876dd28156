__device__ unsigned four(unsigned v, const unsigned char* table) {
    return table[v & 255] | table[v >> 8 & 255] << 8 | table[v >> 16 & 255] << 16 | (unsigned)table[v >> 24] << 24;
}

// Each byte of a picture becomes that of a table, in place; sixteen at a time.
__global__ void palette(unsigned char* img, const unsigned char* table, int n) {
    __shared__ unsigned char shared[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) shared[k] = table[k];
    __syncthreads();
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 16;
    if (n < 16) {
        if (i == 0)
            for (int k = 0; k < n; ++k) img[k] = shared[img[k]];
        return;
    }
    // The last sixteen begin where there still are sixteen; bytes at a time, they need not be aligned.
    if (i < n && i + 16 > n) i = n - 16;
    if (i < n) {
        uint4 v;
        if ((size_t)(img + i) % 16 == 0) v = *(uint4*)(img + i);
        else memcpy(&v, img + i, 16);
        v = make_uint4(four(v.x, shared), four(v.y, shared), four(v.z, shared), four(v.w, shared));
        if ((size_t)(img + i) % 16 == 0) *(uint4*)(img + i) = v;
        else memcpy(img + i, &v, 16);
    }
}
