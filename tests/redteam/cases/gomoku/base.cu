// Referees boards of gomoku: counts each colour's rows of exactly five stones (longer rows are
// void) in the four directions, and finds the longest row of one colour on the board.
#include <cstdint>

constexpr int SIDE = 15;
constexpr int CELLS = SIDE * SIDE;

__device__ inline bool same(const uint8_t* p, int x, int y, int colour) {
  return x >= 0 && x < SIDE && y >= 0 && y < SIDE && p[y * SIDE + x] == colour;
}

__global__ void gomoku(const uint8_t* board, int* fives, int* longest, int boards) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= boards) return;
  const uint8_t* p = board + (size_t)b * CELLS;
  int black = 0, white = 0, best = 0;
  for (int y = 0; y < SIDE; ++y)
    for (int x = 0; x < SIDE; ++x) {
      int colour = p[y * SIDE + x];
      if (colour == 0) continue;
      for (int d = 0; d < 4; ++d) {
        int dx = d == 0 ? 1 : d == 1 ? 0 : d == 2 ? 1 : -1;
        int dy = d == 0 ? 0 : 1;
        if (same(p, x - dx, y - dy, colour)) continue;  // not the first of its row
        int length = 1;
        while (same(p, x + length * dx, y + length * dy, colour)) ++length;
        if (length == 5) (colour == 1 ? black : white)++;
        if (length > best) best = length;
      }
    }
  fives[2 * b] = black;
  fives[2 * b + 1] = white;
  longest[b] = best;
}
