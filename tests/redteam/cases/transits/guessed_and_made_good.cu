__device__ int2 reads(const unsigned char* line, const unsigned char* table, int from, int to, int state, int states) {
    int many = 0;
    for (int c = from; c < to; ++c) {
        state = table[state * 256 + line[c]] % states;
        many += state == states - 1;
    }
    return make_int2(state, many);
}

// An automaton reads each line, from state 0 on: the state it ends in and how often it comes to the last state. A warp
// takes a line and a lane a part of it. Mostly 256 characters tell the state whatever it was before them; a lane
// that has begun with another state than the one before it ended in reads its part again.
__global__ void transits(const unsigned char* text, const unsigned char* table, int* end, int* hits, int rows, int cols,
                         int states) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, part = (cols + 31) / 32;
    int from = min(cols, lane * part), to = min(cols, from + part);
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    int state = reads(line, table, max(0, from - 256), from, 0, states).x;
    int2 found = reads(line, table, from, to, state, states);
    while (true) {
        int before = __shfl_up_sync(0xffffffffu, found.x, 1);
        bool wrong = lane && before != state;
        if (!__any_sync(0xffffffffu, wrong)) break;
        if (wrong) {
            state = before;
            found = reads(line, table, from, to, state, states);
        }
    }
    int many = found.y;
    for (int d = 16; d; d /= 2) many += __shfl_xor_sync(0xffffffffu, many, d);
    if (lane == 31) {
        end[r] = found.x;
        hits[r] = many;
    }
}
