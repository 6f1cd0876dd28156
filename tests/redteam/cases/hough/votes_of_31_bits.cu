// Hough's transform: every bright pixel votes for the lines through it, one of each angle. Cosines and sines are whole
// numbers of 20 binary places.
constexpr int kPixels = 4096;

// The bright pixels of a stretch are listed first, in any order. Then a warp takes one and its lanes the angles. A place
// of 11 bits and 20 binary places are 31: two products of a picture's size need no more than a register.
__global__ void hough(const unsigned char* pixel, const int* cosine, const int* sine, int* votes, int h, int w,
                      int angles, int threshold) {
    __shared__ unsigned list[kPixels];
    __shared__ int many;
    if (threadIdx.x == 0) many = 0;
    __syncthreads();
    unsigned first = blockIdx.x * kPixels, all = (unsigned)h * w;
    for (unsigned i = first + threadIdx.x; i < min(first + kPixels, all); i += blockDim.x)
        if (pixel[i] > threshold) list[atomicAdd(&many, 1)] = i;
    __syncthreads();
    int bins = 2 * (h + w);
    for (int e = threadIdx.x / 32; e < many; e += blockDim.x / 32) {
        int y = list[e] / w, x = list[e] % w;
        for (int a = threadIdx.x % 32; a < angles; a += 32) {
            int at = ((x * cosine[a] + y * sine[a]) >> 20) + h + w;
            if (at >= 0 && at < bins) atomicAdd(&votes[(size_t)a * bins + at], 1);
        }
    }
}
