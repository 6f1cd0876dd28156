// Referees boards of gomoku: counts each colour's rows of exactly five stones (longer rows are
// void) in the four directions, and finds the longest row of one colour on the board.
#include <cstdint>

constexpr int SIDE = 15;
constexpr int CELLS = SIDE * SIDE;

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
        int right = dx > 0 ? SIDE - x : dx < 0 ? x + 1 : SIDE;
        int room = dy ? min(right, SIDE - y) : right;  // points from here to the border
        if (room < 5 && room <= best) continue;
        int step = dy * SIDE + dx;
        const uint8_t* q = p + y * SIDE + x;
        bool before = y - dy >= 0 && x - dx >= 0 && x - dx < SIDE;
        if (before && q[-step] == colour) continue;
        if (room > best && room > 5 && best >= 5) {
          // only a row of five or one longer than the best matters: look at its fifth stone first
          if (q[4 * step] != colour) continue;
        }
        int length = 1;
        while (length < room && q[length * step] == colour) ++length;
        if (length == 5) (colour == 1 ? black : white)++;
        if (length > best) best = length;
      }
    }
  fives[2 * b] = black;
  fives[2 * b + 1] = white;
  longest[b] = best;
}
