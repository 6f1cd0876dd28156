// Hough's transform: every bright pixel votes for the lines through it, one of each angle. Cosines and sines are whole
// numbers of 20 binary places.
constexpr int kRoom = 96;

// Each warp lists the bright pixels of 512, a few in a hundred, without a barrier, and takes them one by one, its lanes
// the angles.
__global__ void hough(const unsigned char* pixel, const int* cosine, const int* sine, int* votes, int h, int w,
                      int angles, int threshold) {
    __shared__ unsigned short lists[8][kRoom];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, many = 0;
    unsigned short* list = lists[warp];
    size_t first = (size_t)blockIdx.x * 4096 + warp * 512, all = (size_t)h * w;
    for (int i = lane; i < 512; i += 32) {
        bool bright = first + i < all && pixel[first + i] > threshold;
        unsigned who = __ballot_sync(~0u, bright);
        int at = many + __popc(who & ((1u << lane) - 1));
        if (bright && at < kRoom) list[at] = i;
        many = min(many + __popc(who), kRoom);
    }
    __syncwarp();
    int bins = 2 * (h + w);
    for (int e = 0; e < many; ++e) {
        size_t p = first + list[e];
        int y = p / w, x = p % w;
        for (int a = lane; a < angles; a += 32) {
            long long at = ((x * (long long)cosine[a] + y * (long long)sine[a]) >> 20) + h + w;
            if (at >= 0 && at < bins) atomicAdd(&votes[(size_t)a * bins + at], 1);
        }
    }
}
