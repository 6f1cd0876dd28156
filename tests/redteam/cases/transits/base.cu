// An automaton reads each line, from state 0 on: the state it ends in and how often it comes to the last state.
__global__ void transits(const unsigned char* text, const unsigned char* table, int* end, int* hits, int rows, int cols,
                         int states) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    int state = 0, many = 0;
    for (int c = 0; c < cols; ++c) {
        state = table[state * 256 + line[c]] % states;
        many += state == states - 1;
    }
    end[r] = state;
    hits[r] = many;
}
