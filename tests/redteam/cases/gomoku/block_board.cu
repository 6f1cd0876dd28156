// Referees boards of gomoku: counts each colour's rows of exactly five stones (longer rows are
// void) in the four directions, and finds the longest row of one colour on the board.
#include <cstdint>

constexpr int SIDE = 15;
constexpr int CELLS = SIDE * SIDE;
constexpr int PITCH = SIDE + 2;

__global__ void gomoku(const uint8_t* board, int* fives, int* longest, int boards) {
  __shared__ uint8_t cell[PITCH * PITCH];  // with a border of empty points
  __shared__ int found[3];
  int t = threadIdx.x;
  for (int i = t; i < PITCH * PITCH; i += blockDim.x) cell[i] = 0;
  for (int b = blockIdx.x; b < boards; b += gridDim.x) {
    if (t < 3) found[t] = 0;
    int at = 0;
    if (t < CELLS) {
      at = (t / SIDE + 1) * PITCH + t % SIDE + 1;
      cell[at] = board[(size_t)b * CELLS + t];
    }
    __syncthreads();
    int colour = t < CELLS ? cell[at] : 0;
    if (colour) {
      for (int d = 0; d < 4; ++d) {
        int step = d == 0 ? 1 : PITCH - 2 + d;
        if (cell[at - step] == colour) continue;
        int length = 1;
        while (cell[at + length * step] == colour) ++length;
        if (length == 5) atomicAdd(&found[colour], 1);
        atomicMax(&found[0], length);
      }
    }
    __syncthreads();
    if (t == 0) longest[b] = found[0];
    else if (t < 3) fives[2 * (size_t)b + t - 1] = found[t];
  }
}
