// Frames of a stereo sound made wider or narrower in place. Blocks stay on the device and go over the samples.
__global__ void widen(short* pcm, int n, int width) {
    int samples = 2 * n, step = 2 * gridDim.x * blockDim.x;
    for (int s = 2 * (blockIdx.x * blockDim.x + threadIdx.x); s < samples; s += step) {
        int l = pcm[s], r = pcm[s + 1];
        long long mid = l + r, side = (long long)(l - r) * width >> 8;
        pcm[s] = (short)min(max((mid + side) >> 1, -32768ll), 32767ll);
        pcm[s + 1] = (short)min(max((mid - side) >> 1, -32768ll), 32767ll);
    }
}
