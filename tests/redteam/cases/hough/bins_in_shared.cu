// Hough's transform: every bright pixel votes for the lines through it, one of each angle. Cosines and sines are whole
// numbers of 20 binary places.
constexpr int kBins = 24576;

// A block counts the votes of its angle in shared memory, all of a picture's or as many as have room at once. The
// pixels are read by words where they begin with one.
__global__ void hough(const unsigned char* pixel, const int* cosine, const int* sine, int* votes, int h, int w,
                      int angles, int threshold) {
    extern __shared__ int counted[];
    int bins = 2 * (h + w), a = blockIdx.x;
    size_t all = (size_t)h * w, words = (size_t)pixel % 4 ? 0 : all / 4;
    unsigned limit = min(max(threshold, 0), 255) * 0x01010101u, every = threshold < 0 ? ~0u : 0;
    long long c = cosine[a], s = sine[a];
    for (int low = 0; low < bins; low += kBins) {
        int here = min(kBins, bins - low);
        for (int i = threadIdx.x; i < here; i += blockDim.x) counted[i] = 0;
        __syncthreads();
        auto vote = [&](size_t i) {
            int y = i / w, x = i % w;
            long long at = ((x * c + y * s) >> 20) + h + w - low;
            if (at >= 0 && at < here) atomicAdd(&counted[at], 1);
        };
        for (size_t i = threadIdx.x; i < words; i += blockDim.x) {
            unsigned bright = __vcmpgtu4(reinterpret_cast<const unsigned*>(pixel)[i], limit) | every;
            if (bright == 0) continue;
            for (int k = 0; k < 4; ++k)
                if (bright >> 8 * k & 1) vote(4 * i + k);
        }
        for (size_t i = 4 * words + threadIdx.x; i < all; i += blockDim.x)
            if (pixel[i] > threshold) vote(i);
        __syncthreads();
        for (int i = threadIdx.x; i < here; i += blockDim.x) votes[(size_t)a * bins + low + i] += counted[i];
        __syncthreads();
    }
}
