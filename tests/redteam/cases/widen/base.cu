// Frames of a stereo sound made wider or narrower in place: the middle stays, the side becomes width/256 of itself.
__global__ void widen(short* pcm, int n, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int l = pcm[2 * i], r = pcm[2 * i + 1];
    long long mid = l + r, side = (long long)(l - r) * width >> 8;
    pcm[2 * i] = (short)min(max((mid + side) >> 1, -32768ll), 32767ll);
    pcm[2 * i + 1] = (short)min(max((mid - side) >> 1, -32768ll), 32767ll);
}
