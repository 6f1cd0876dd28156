// Both samples of a frame, packed as they lie.
__device__ unsigned wider(unsigned frame, int width) {
    int l = (short)(frame & 0xffffu), r = (short)(frame >> 16);
    long long mid = l + r, side = (long long)(l - r) * width >> 8;
    int a = (int)min(max((mid + side) >> 1, -32768ll), 32767ll);
    int b = (int)min(max((mid - side) >> 1, -32768ll), 32767ll);
    return ((unsigned)a & 0xffffu) | (unsigned)b << 16;
}

// Frames of a stereo sound made wider or narrower in place, four of them a thread, by 16 bytes where they lie so.
__global__ void widen(short* pcm, int n, int width) {
    size_t i = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (i >= n) return;
    if (n - i >= 4 && (size_t)pcm % 16 == 0) {
        uint4* at = (uint4*)(pcm + 2 * i);
        uint4 v = *at;
        v.x = wider(v.x, width), v.y = wider(v.y, width), v.z = wider(v.z, width), v.w = wider(v.w, width);
        *at = v;
        return;
    }
    for (size_t k = i; k < n && k < i + 4; ++k) {
        unsigned v = wider((unsigned short)pcm[2 * k] | (unsigned)(unsigned short)pcm[2 * k + 1] << 16, width);
        pcm[2 * k] = (short)(v & 0xffffu);
        pcm[2 * k + 1] = (short)(v >> 16);
    }
}
