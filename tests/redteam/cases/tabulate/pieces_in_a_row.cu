#include <cstdint>

// Where a text's bytes come to stand: the column of each byte in its line, tabs going on to the next multiple of
// eight, bytes 0x80..0xbf (the later ones of a UTF-8 letter) taking no column, all others one. A line ends behind
// its newline. widest: the most columns that a line takes (without its newline).
#define STOP 8

#define PIECE 64

// what a piece of the text does to the column: a newline sets it to `after`; else a tab adds `before`, goes on to the
// next stop and adds `after`; else it adds `before`
struct Piece {
    int before, after;
    int kind;          // 0 plain, 1 tab, 2 newline
};

__device__ __forceinline__ int through(int kind, int before, int after, int at) {
    if (kind == 2) return after;
    at += before;
    return kind == 1 ? (at / STOP + 1) * STOP + after : at;
}

__global__ void summarise(const uint8_t* text, Piece* pieces, int* widest, int n, int count) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k == 0) *widest = 0;
    if (k >= count) return;
    int kind = 0, before = 0, after = 0;
    int end = min(n, (k + 1) * PIECE);
    for (int i = k * PIECE; i < end; i++) {
        int b = text[i];
        if (b == '\n') {
            kind = 2;
            after = 0;
        } else if (b == '\t') {
            if (kind == 0)
                kind = 1;
            else
                after = (after / STOP + 1) * STOP;
        } else if (b < 0x80 || b > 0xbf) {
            if (kind == 0)
                before++;
            else
                after++;
        }
    }
    Piece p;
    p.before = before;
    p.after = after;
    p.kind = kind;
    pieces[k] = p;
}

// one block: each thread takes a run of pieces, then all are put in a row
__global__ void put_in_a_row(const Piece* pieces, int* starts, int count) {
    __shared__ int kinds[256], befores[256], afters[256];
    int each = (count + 255) / 256;
    int from = min(count, (int)threadIdx.x * each), to = min(count, from + each);
    int kind = 0, before = 0, after = 0;
    for (int k = from; k < to; k++) {
        Piece p = pieces[k];
        if (p.kind == 2) {
            kind = 2;
            after = p.after;
        } else if (kind == 0) {
            before += p.before;
            if (p.kind == 1) {
                kind = 1;
                after = p.after;
            }
        } else {
            after = through(p.kind, p.before, p.after, after);
        }
    }
    kinds[threadIdx.x] = kind;
    befores[threadIdx.x] = before;
    afters[threadIdx.x] = after;
    __syncthreads();
    int at = 0;
    for (int t = 0; t < (int)threadIdx.x; t++) at = through(kinds[t], befores[t], afters[t], at);
    for (int k = from; k < to; k++) {
        starts[k] = at;
        at = through(pieces[k].kind, pieces[k].before, pieces[k].after, at);
    }
}

__global__ void apply(const uint8_t* text, const int* starts, int* column, int* widest, int n, int count) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    int at = starts[k], most = 0;
    int end = min(n, (k + 1) * PIECE);
    for (int i = k * PIECE; i < end; i++) {
        int b = text[i];
        column[i] = at;
        if (b == '\n')
            at = 0;
        else if (b == '\t')
            at = (at / STOP + 1) * STOP;
        else if (b < 0x80 || b > 0xbf)
            at++;
        most = max(most, at);
    }
    atomicMax(widest, most);
}

void tabulate(const uint8_t* text, int* column, int* widest, int n) {
    int count = (n + PIECE - 1) / PIECE;
    int blocks = (count + 127) / 128;
    Piece* pieces;
    int* starts;
    cudaMallocAsync(&pieces, count * sizeof(Piece), 0);
    cudaMallocAsync(&starts, count * sizeof(int), 0);
    summarise<<<blocks, 128>>>(text, pieces, widest, n, count);
    put_in_a_row<<<1, 256>>>(pieces, starts, count);
    apply<<<blocks, 128>>>(text, starts, column, widest, n, count);
    cudaFreeAsync(pieces, 0);
    cudaFreeAsync(starts, 0);
}
