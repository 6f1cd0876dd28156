#include <climits>
// The second in each row and where it stands: of equal ones the earlier goes before the later.
__global__ void runnerup(const int* x, int* value, int* place, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* mine = x + (size_t)row * cols;
    int a = -1, b = -1;
    for (int c = 0; c < cols; ++c) {
        if (a < 0 || mine[c] > mine[a]) {
            b = a;
            a = c;
        } else if (b < 0 || mine[c] > mine[b]) {
            b = c;
        }
    }
    value[row] = b < 0 ? INT_MIN : mine[b];
    place[row] = b;
}
