#include <cstdint>

// Where a text's bytes come to stand: the column of each byte in its line, tabs going on to the next multiple of
// eight, bytes 0x80..0xbf (the later ones of a UTF-8 letter) taking no column, all others one. A line ends behind
// its newline. widest: the most columns that a line takes (without its newline).
#define STOP 8

// a warp takes the lines that begin among its 32 bytes, one after the other, 32 bytes at a time
__global__ void lay_out(const uint8_t* text, int* column, int* widest, int n) {
    int lane = threadIdx.x & 31;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int base = i - lane;
    unsigned begins = __ballot_sync(0xffffffffu, i < n && (i == 0 || text[i - 1] == '\n'));
    unsigned below = (1u << lane) - 1;
    while (begins) {
        int from = base + __ffs(begins) - 1;
        begins &= begins - 1;
        int at = 0;
        bool on = true;
        for (int first = from; on && first < n; first += 32) {
            int k = first + lane;
            int b = k < n ? text[k] : '\n';
            unsigned ends = __ballot_sync(0xffffffffu, b == '\n');
            unsigned inside = ends ? (ends & (0u - ends)) - 1 : 0xffffffffu;
            unsigned wide = __ballot_sync(0xffffffffu, (int8_t)b >= -64 && b != '\t') & inside;
            unsigned tabs = __ballot_sync(0xffffffffu, b == '\t') & inside;
            on = ends == 0;
            int mine = at + __popc(wide & below);
            unsigned counted = wide;
            // each tab moves all that follow it
            while (tabs) {
                unsigned tab = tabs & (0u - tabs);
                tabs &= tabs - 1;
                at = ((at + __popc(counted & (tab - 1))) / STOP + 1) * STOP;
                counted &= ~(tab | (tab - 1));
                if (below & tab) mine = at + __popc(counted & below);
            }
            at += __popc(counted);
            // the newline itself has a column, too
            if (k < n && (inside >> lane & 1 || (ends & (0u - ends)) == 1u << lane)) column[k] = mine;
        }
        if (lane == 0) atomicMax(widest, at);
    }
}

void tabulate(const uint8_t* text, int* column, int* widest, int n) {
    cudaMemsetAsync(widest, 0, sizeof(int), 0);
    lay_out<<<(n + 255) / 256, 256>>>(text, column, widest, n);
}
