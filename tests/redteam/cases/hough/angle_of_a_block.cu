// Hough's transform: every bright pixel votes for the lines through it, one of each angle. Cosines and sines are whole
// numbers of 20 binary places.

// A block counts the votes of its angle in shared memory, a million pixels at most, and adds them to what is there.
__global__ void hough(const unsigned char* pixel, const int* cosine, const int* sine, int* votes, int h, int w,
                      int angles, int threshold) {
    extern __shared__ int counted[];
    int bins = 2 * (h + w), a = blockIdx.x;
    for (int i = threadIdx.x; i < bins; i += blockDim.x) counted[i] = 0;
    __syncthreads();
    size_t first = (size_t)blockIdx.y << 20, end = min(first + (1 << 20), (size_t)h * w);
    long long c = cosine[a], s = sine[a];
    for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
        if (pixel[i] <= threshold) continue;
        int y = i / w, x = i % w;
        long long at = ((x * c + y * s) >> 20) + h + w;
        if (at >= 0 && at < bins) atomicAdd(&counted[at], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += blockDim.x)
        if (counted[i]) votes[(size_t)a * bins + i] += counted[i];
}
