// Referees boards of gomoku: counts each colour's rows of exactly five stones (longer rows are
// void) in the four directions, and finds the longest row of one colour on the board.
#include <cstdint>

constexpr int SIDE = 15;
constexpr int CELLS = SIDE * SIDE;
constexpr int WARPS = 4;

__global__ void gomoku(const uint8_t* board, int* fives, int* longest, int boards) {
  __shared__ uint8_t cell[WARPS][CELLS + 31];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int b = blockIdx.x * WARPS + warp;
  if (b >= boards) return;
  uint8_t* p = cell[warp];
  for (int i = lane; i < CELLS; i += 32) p[i] = board[(size_t)b * CELLS + i];
  __syncwarp();
  unsigned tally = 0, best = 0;  // four bits for each colour
  for (int i = lane; i < CELLS; i += 32) {
    int colour = p[i];
    if (colour == 0) continue;
    int y = i / SIDE, x = i % SIDE;
    for (int d = 0; d < 4; ++d) {
      int dx = d == 0 ? 1 : d == 1 ? 0 : d == 2 ? 1 : -1;
      int dy = d == 0 ? 0 : 1;
      int right = dx > 0 ? SIDE - x : dx < 0 ? x + 1 : SIDE;
      int room = dy ? min(right, SIDE - y) : right;
      int step = dy * SIDE + dx;
      if (y - dy >= 0 && x - dx >= 0 && x - dx < SIDE && p[i - step] == colour) continue;
      unsigned length = 1;
      while (length < room && p[i + (int)length * step] == colour) ++length;
      if (length == 5) tally += colour == 1 ? 1 : 16;
      best = max(best, length);
    }
  }
  unsigned sum = __reduce_add_sync(~0u, tally);
  best = __reduce_max_sync(~0u, best);
  if (lane == 0) {
    fives[2 * (size_t)b] = sum & 15;
    fives[2 * (size_t)b + 1] = sum >> 4;
    longest[b] = best;
  }
}
