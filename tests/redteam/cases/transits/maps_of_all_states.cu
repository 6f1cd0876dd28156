__device__ int2 reads(const unsigned char* line, const unsigned char* table, int from, int to, int state, int states) {
    int many = 0;
    for (int c = from; c < to; ++c) {
        state = table[state * 256 + line[c]] % states;
        many += state == states - 1;
    }
    return make_int2(state, many);
}

// An automaton reads each line, from state 0 on: the state it ends in and how often it comes to the last state. A warp
// takes a line and a lane a part of it: where each state would lead comes first, as far as there are 16 at most.
__global__ void transits(const unsigned char* text, const unsigned char* table, int* end, int* hits, int rows, int cols,
                         int states) {
    __shared__ unsigned char leads[8][32][16];
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, part = (cols + 31) / 32;
    int from = min(cols, lane * part), to = min(cols, from + part);
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    unsigned char(*map)[16] = leads[threadIdx.x / 32];
    if (states > 16) {
        if (lane) return;
        int2 all = reads(line, table, 0, cols, 0, states);
        end[r] = all.x;
        hits[r] = all.y;
        return;
    }
    for (int s = 0; s < states; ++s) map[lane][s] = (unsigned char)reads(line, table, from, to, s, states).x;
    __syncwarp();
    int state = 0;
    for (int l = 0; l < lane; ++l) state = map[l][state];
    int2 found = reads(line, table, from, to, state, states);
    int many = found.y;
    for (int d = 16; d; d /= 2) many += __shfl_xor_sync(0xffffffffu, many, d);
    if (lane == 31) {
        end[r] = found.x;
        hits[r] = many;
    }
}
