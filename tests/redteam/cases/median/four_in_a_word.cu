__device__ __forceinline__ void exchange(unsigned& a, unsigned& b) {
    unsigned low = __vminu4(a, b);
    b = __vmaxu4(a, b);
    a = low;
}

__global__ void median(const unsigned char* in, unsigned char* out, int w, int h) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned v[9];
#pragma unroll
    for (int j = 0; j < 3; ++j) {
        const unsigned char* row = in + (size_t)min(max(y + j - 1, 0), h - 1) * w;
        unsigned long long six = 0;
#pragma unroll
        for (int k = 0; k < 6; ++k)
            six |= (unsigned long long)__ldg(row + min(max(x + k - 1, 0), w - 1)) << 8 * k;
        v[3 * j] = (unsigned)six;
        v[3 * j + 1] = (unsigned)(six >> 8);
        v[3 * j + 2] = (unsigned)(six >> 16);
    }
    exchange(v[0], v[1]);
    exchange(v[1], v[2]);
    exchange(v[0], v[1]);
    exchange(v[3], v[4]);
    exchange(v[4], v[5]);
    exchange(v[3], v[4]);
    exchange(v[6], v[7]);
    exchange(v[7], v[8]);
    exchange(v[6], v[7]);
    exchange(v[0], v[3]);
    exchange(v[3], v[6]);
    exchange(v[5], v[8]);
    exchange(v[2], v[5]);
    exchange(v[1], v[4]);
    exchange(v[4], v[7]);
    exchange(v[1], v[4]);
    exchange(v[6], v[4]);
    exchange(v[4], v[2]);
    exchange(v[6], v[4]);
    unsigned char* to = out + (size_t)y * w + x;
    if (x + 3 < w && ((size_t)to & 3) == 0) {
        *(unsigned*)to = v[4];
    } else {
        for (int k = 0; k < 4 && x + k < w; ++k) to[k] = (unsigned char)(v[4] >> 8 * k);
    }
}
