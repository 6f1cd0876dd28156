// Referees boards of gomoku: counts each colour's rows of exactly five stones (longer rows are
// void) in the four directions, and finds the longest row of one colour on the board.
#include <cstdint>

constexpr int SIDE = 15;
constexpr int CELLS = SIDE * SIDE;

__device__ inline void line(unsigned bits, int& exact, int& best) {
  unsigned two = bits & bits >> 1, four = two & two >> 2;
  unsigned five = four & bits >> 4;
  unsigned six = five & five >> 1;
  // a row of n has n-4 windows of five and n-5 of six; longer rows are void
  exact += max(0, __popc(five) - 2 * __popc(six));
  int length = 0;
  while (bits) {
    ++length;
    bits &= bits >> 1;
  }
  best = max(best, length);
}

__global__ void gomoku(const uint8_t* board, int* fives, int* longest, int boards) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= boards) return;
  const uint8_t* p = board + (size_t)b * CELLS;
  int best = 0;
  for (int colour = 1; colour <= 2; ++colour) {
    int exact = 0;
    for (int k = 0; k < SIDE; ++k) {
      unsigned across = 0, along = 0;
      for (int i = 0; i < SIDE; ++i) {
        across |= (unsigned)(p[k * SIDE + i] == colour) << i;
        along |= (unsigned)(p[i * SIDE + k] == colour) << i;
      }
      line(across, exact, best);
      line(along, exact, best);
    }
    for (int k = -(SIDE - 1); k < SIDE; ++k) {
      unsigned falling = 0, rising = 0;
      for (int i = 0; i < SIDE; ++i) {
        int x = i + k;
        if (x < 0 || x >= SIDE) continue;
        falling |= (unsigned)(p[i * SIDE + x] == colour) << i;
        rising |= (unsigned)(p[i * SIDE + SIDE - 1 - x] == colour) << i;
      }
      line(falling, exact, best);
      line(rising, exact, best);
    }
    fives[2 * b + colour - 1] = exact;
  }
  longest[b] = best;
}
