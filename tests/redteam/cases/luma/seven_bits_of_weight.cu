// How bright the pixels of a picture are: red, green and blue weighted, in 8 bits.
__global__ void luma(const unsigned char* rgb, unsigned char* y, int n) {
    __shared__ unsigned char bytes[1536];
    int first = blockIdx.x * 512, t = threadIdx.x;
    int here = min(512, n - first);
    for (int k = t; k < 3 * here; k += 256) bytes[k] = rgb[3 * (size_t)first + k];
    __syncthreads();
    if (t >= here) return;
    // Two pixels share a word, seven bits of weight: rounded for both at once.
    const unsigned char *p = bytes + 3 * t, *q = t + 256 < here ? p + 768 : p;
    unsigned r = p[0] | q[0] << 16, g = p[1] | q[1] << 16, b = p[2] | q[2] << 16;
    unsigned both = 38 * r + 75 * g + 15 * b + 0x00400040u;
    y[first + t] = both >> 7 & 255;
    if (t + 256 < here) y[first + t + 256] = both >> 23;
}
