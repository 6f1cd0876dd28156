// The colour of a place in the cloth: the warp's where the card has a hole, else the weft's.
__device__ unsigned char colour(const unsigned* card, const unsigned char* warp, const unsigned char* weft, size_t y,
                                size_t x, size_t words) {
    return card[y * words + x / 32] >> x % 32 & 1 ? warp[x] : weft[y];
}

// A cloth of h rows from the cards of a loom, a word for each 32 threads. A thread has four places, row behind row.
__global__ void jacquard(const unsigned* card, const unsigned char* warp, const unsigned char* weft,
                         unsigned char* cloth, int h, int w) {
    size_t i = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x), words = ((size_t)w + 31) / 32;
    if (i >= (size_t)h * w) return;
    size_t y = i / w, x = i % w;
    unsigned char four[4];
    for (int k = 0; k < 4; ++k) {
        four[k] = colour(card, warp, weft, min(y, (size_t)h - 1), x, words);
        if (++x == w) x = 0, ++y;
    }
    if ((size_t)cloth % 4 == 0)
        *(uchar4*)(cloth + i) = make_uchar4(four[0], four[1], four[2], four[3]);
    else
        for (int k = 0; k < 4; ++k) cloth[i + k] = four[k];
}
