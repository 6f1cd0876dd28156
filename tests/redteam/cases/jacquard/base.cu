// The colour of a place in the cloth: the warp's where the card has a hole, else the weft's.
__device__ unsigned char colour(const unsigned* card, const unsigned char* warp, const unsigned char* weft, size_t y,
                                size_t x, size_t words) {
    return card[y * words + x / 32] >> x % 32 & 1 ? warp[x] : weft[y];
}

// A cloth of h rows from the cards of a loom, a word for each 32 threads.
__global__ void jacquard(const unsigned* card, const unsigned char* warp, const unsigned char* weft,
                         unsigned char* cloth, int h, int w) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)h * w) return;
    size_t y = i / w, x = i % w;
    cloth[i] = colour(card, warp, weft, y, x, ((size_t)w + 31) / 32);
}
