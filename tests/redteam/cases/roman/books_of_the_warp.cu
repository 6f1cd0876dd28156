#include <cstdint>
#include <cuda_runtime.h>

// Reads cells of Roman numerals (1..7 stand for I V X L C D M, 0 ends a cell that is not full) and books their
// values in ledgers. A letter before a greater one counts negative, as in IX.
__constant__ int worth[8] = {0, 1, 5, 10, 50, 100, 500, 1000};

__global__ void clear_ledgers(long long* total, int* largest, int ledgers)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= ledgers) return;
    total[l] = 0;
    largest[l] = 0;
}

__global__ void read_cells(const uint8_t* text, const int* ledger, int* value, long long* total, int* largest,
                           int cells, int width)
{
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned all = __ballot_sync(0xffffffffu, cell < cells);
    if (cell >= cells) return;
    const uint8_t* letters = text + (size_t)cell * width;
    int sum = 0;
    for (int i = 0; i < width; ++i) {
        int letter = letters[i] & 7;
        if (letter == 0) break;
        int next = i + 1 < width ? letters[i + 1] & 7 : 0;
        sum += worth[letter] < worth[next] ? -worth[letter] : worth[letter];
    }
    value[cell] = sum;
    int l = ledger[cell];
    unsigned same = __match_any_sync(all, l);
    long long books = 0;
    int most = 0;
    for (unsigned left = all; left; left &= left - 1) {
        int from = __ffs(left) - 1;
        int other = __shfl_sync(all, sum, from);
        if (same >> from & 1) {
            books += other;
            most = max(most, other);
        }
    }
    if ((threadIdx.x & 31) == __ffs(same) - 1) {
        atomicAdd((unsigned long long*)&total[l], (unsigned long long)books);
        atomicMax(&largest[l], most);
    }
}

void roman(const uint8_t* text, const int* ledger, int* value, long long* total, int* largest,
           int cells, int width, int ledgers)
{
    clear_ledgers<<<(ledgers + 255) / 256, 256>>>(total, largest, ledgers);
    read_cells<<<(cells + 255) / 256, 256>>>(text, ledger, value, total, largest, cells, width);
}
