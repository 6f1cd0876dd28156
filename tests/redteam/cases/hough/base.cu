// Hough's transform: every bright pixel votes for the lines through it, one of each angle. Cosines and sines are whole
// numbers of 20 binary places.
__global__ void hough(const unsigned char* pixel, const int* cosine, const int* sine, int* votes, int h, int w,
                      int angles, int threshold) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h || pixel[(size_t)y * w + x] <= threshold) return;
    int bins = 2 * (h + w);
    for (int a = 0; a < angles; ++a) {
        long long at = ((x * (long long)cosine[a] + y * (long long)sine[a]) >> 20) + h + w;
        if (at >= 0 && at < bins) atomicAdd(&votes[(size_t)a * bins + at], 1);
    }
}
