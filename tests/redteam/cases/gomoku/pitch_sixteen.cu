// Referees boards of gomoku: counts each colour's rows of exactly five stones (longer rows are
// void) in the four directions, and finds the longest row of one colour on the board.
#include <cstdint>

constexpr int SIDE = 15;
constexpr int CELLS = SIDE * SIDE;
typedef unsigned long long word;

// The board as 256 bits, sixteen a row: the sixteenth is never set.
struct Bits {
  word w[4];
};

__device__ inline Bits down(const Bits& a, int s) {  // 1 <= s <= 17: bit i becomes bit i-s
  Bits r;
#pragma unroll
  for (int i = 0; i < 4; ++i) r.w[i] = (a.w[i] >> s) | (i < 3 ? a.w[i + 1] << (64 - s) : 0);
  return r;
}

__device__ inline Bits both(const Bits& a, const Bits& b) {
  Bits r;
#pragma unroll
  for (int i = 0; i < 4; ++i) r.w[i] = a.w[i] & b.w[i];
  return r;
}

__device__ inline int size(const Bits& a) {
  return __popcll(a.w[0]) + __popcll(a.w[1]) + __popcll(a.w[2]) + __popcll(a.w[3]);
}

__global__ void gomoku(const uint8_t* board, int* fives, int* longest, int boards) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= boards) return;
  const uint8_t* p = board + (size_t)b * CELLS;
  int best = 0;
  for (int colour = 1; colour <= 2; ++colour) {
    Bits all = {{0, 0, 0, 0}};
    for (int y = 0; y < SIDE; ++y)
      for (int x = 0; x < SIDE; ++x)
        if (p[y * SIDE + x] == colour) all.w[y >> 2] |= 1ull << ((y & 3) * 16 + x);
    int exact = 0;
    for (int d = 0; d < 4; ++d) {
      int step = d == 0 ? 1 : d + 14;
      Bits run = all;
      int count = size(run), windows[8] = {0, 0, 0, 0, 0, 0, 0, 0};
      int length = 0;
      while (count) {
        ++length;
        if (length < 8) windows[length] = count;
        run = both(all, down(run, step));
        count = size(run);
      }
      // a row of n has n-4 windows of five, n-5 of six and n-6 of seven
      exact += windows[5] - 2 * windows[6] + windows[7];
      best = max(best, length);
    }
    fives[2 * b + colour - 1] = exact;
  }
  longest[b] = best;
}
