// The colour of a place in the cloth: the warp's where the card has a hole, else the weft's.
__device__ unsigned char colour(const unsigned* card, const unsigned char* warp, const unsigned char* weft, size_t y,
                                size_t x, size_t words) {
    return card[y * words + x / 32] >> x % 32 & 1 ? warp[x] : weft[y];
}

// A cloth of h rows from the cards of a loom, a word for each 32 threads. A block has each row of so many, and has the
// next one's card and weft already while it weaves.
__global__ void jacquard(const unsigned* card, const unsigned char* warp, const unsigned char* weft,
                         unsigned char* cloth, int h, int w) {
    size_t words = ((size_t)w + 31) / 32;
    for (size_t x = threadIdx.x; x < w; x += 256) {
        unsigned char lies = warp[x], crosses = weft[blockIdx.x];
        unsigned word = card[blockIdx.x * words + x / 32];
        for (size_t y = blockIdx.x; y < h; y += gridDim.x) {
            unsigned now = word;
            unsigned char weave = crosses;
            word = card[(y + gridDim.x) * words + x / 32];
            crosses = weft[y + gridDim.x];
            cloth[y * w + x] = now >> x % 32 & 1 ? lies : weave;
        }
    }
}
