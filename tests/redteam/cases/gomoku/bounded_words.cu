// Referees boards of gomoku: counts each colour's rows of exactly five stones (longer rows are
// void) in the four directions, and finds the longest row of one colour on the board.
#include <cstdint>

constexpr int SIDE = 15;
constexpr int CELLS = SIDE * SIDE;

// A row of the board is a word; a step along a direction is a row down and a shift.
template <int DX, int DY>
__device__ void direction(const unsigned* row, int& exact, int& best) {
  unsigned m[SIDE], start[SIDE];
#pragma unroll
  for (int y = 0; y < SIDE; ++y) {
    unsigned before = y - DY >= 0 ? row[y - DY] : 0;
    before = DX > 0 ? before << 1 : DX < 0 ? before >> 1 : before;
    start[y] = row[y] & ~before;
    m[y] = row[y];
  }
  for (int length = 1; length < SIDE; ++length) {
    unsigned any = 0;
    // m: points from which a row of at least `length` goes on
#pragma unroll
    for (int y = 0; y < SIDE; ++y) any |= m[y];
    if (!any) break;
    if (length > best) best = length;
    unsigned next[SIDE];
#pragma unroll
    for (int y = 0; y < SIDE; ++y) {
      unsigned after = y + DY < SIDE ? m[y + DY] : 0;
      after = DX > 0 ? after >> 1 : DX < 0 ? after << 1 : after;
      next[y] = row[y] & after;
      if (length == 5) exact += __popc(start[y] & m[y] & ~next[y]);
    }
#pragma unroll
    for (int y = 0; y < SIDE; ++y) m[y] = next[y];
  }
}

__global__ void gomoku(const uint8_t* board, int* fives, int* longest, int boards) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= boards) return;
  const uint8_t* p = board + (size_t)b * CELLS;
  int best = 0;
  for (int colour = 1; colour <= 2; ++colour) {
    unsigned row[SIDE];
#pragma unroll
    for (int y = 0; y < SIDE; ++y) {
      unsigned bits = 0;
      for (int x = 0; x < SIDE; ++x) bits |= (unsigned)(p[y * SIDE + x] == colour) << x;
      row[y] = bits;
    }
    int exact = 0;
    direction<1, 0>(row, exact, best);
    direction<0, 1>(row, exact, best);
    direction<1, 1>(row, exact, best);
    direction<-1, 1>(row, exact, best);
    fives[2 * b + colour - 1] = exact;
  }
  longest[b] = best;
}
