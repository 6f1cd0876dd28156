// Hough's transform: every bright pixel votes for the lines through it, one of each angle. Cosines and sines are whole
// numbers of 20 binary places.
constexpr int kPixels = 4096;

// The bright pixels of a stretch are listed first, in any order. Then a warp takes one and its lanes the angles.
__global__ void hough(const unsigned char* pixel, const int* cosine, const int* sine, int* votes, int h, int w,
                      int angles, int threshold) {
    __shared__ unsigned short list[kPixels];
    __shared__ int many;
    if (threadIdx.x == 0) many = 0;
    __syncthreads();
    size_t first = (size_t)blockIdx.x * kPixels, all = (size_t)h * w;
    for (int i = threadIdx.x; i < kPixels && first + i < all; i += blockDim.x)
        if (pixel[first + i] > threshold) list[atomicAdd(&many, 1)] = i;
    __syncthreads();
    int bins = 2 * (h + w);
    for (int e = threadIdx.x / 32; e < many; e += blockDim.x / 32) {
        size_t p = first + list[e];
        int y = p / w, x = p % w;
        for (int a = threadIdx.x % 32; a < angles; a += 32) {
            long long at = ((x * (long long)cosine[a] + y * (long long)sine[a]) >> 20) + h + w;
            if (at >= 0 && at < bins) atomicAdd(&votes[(size_t)a * bins + at], 1);
        }
    }
}
