#define ALL 0xffffffffu

// What water fills of a row's open cells from where it stands in it, both ways.
__device__ unsigned filled(unsigned open, unsigned wet) {
    unsigned up = wet & open, down = up, to = open, fro = open;
    for (int step = 1; step < 32; step *= 2) {
        up |= to & up << step;
        to &= to << step;
        down |= fro & down >> step;
        fro &= fro >> step;
    }
    return up | down;
}

__global__ void quagmire(const unsigned char* cell, unsigned char* reached, int w, int h) {
    int lane = threadIdx.x, x = blockIdx.x * 32 + lane, y = blockIdx.y * 32;
    unsigned open = 0;  // a row of the tile for each lane
    for (int k = 0; k < 32; ++k) {
        unsigned row = __ballot_sync(ALL, x < w && y + k < h && cell[(size_t)(y + k) * w + x] < 154);
        if (k == lane) open = row;
    }
    unsigned wet = lane == 0 ? open : 0;
    unsigned before, sum = __reduce_add_sync(ALL, wet);
    do {
        unsigned above = __shfl_up_sync(ALL, wet, 1), below = __shfl_down_sync(ALL, wet, 1);
        unsigned next = filled(open, wet | (lane > 0 ? above : 0) | (lane < 31 ? below : 0));
        wet = next;
        before = sum;
        sum = __reduce_add_sync(ALL, wet);
    } while (sum != before);
    for (int k = 0; k < 32; ++k) {
        unsigned row = __shfl_sync(ALL, wet, k);
        if (x < w && y + k < h) reached[(size_t)(y + k) * w + x] = row >> lane & 1;
    }
}
