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
    if (cell >= cells) return;
    const uint8_t* letters = text + (size_t)cell * width;
    unsigned short sum = 0;
    for (int i = 0; i < width; ++i) {
        int letter = letters[i] & 7;
        if (letter == 0) break;
        int next = i + 1 < width ? letters[i + 1] & 7 : 0;
        sum = (unsigned short)(sum + (worth[letter] < worth[next] ? -worth[letter] : worth[letter]));
    }
    value[cell] = sum;
    int l = ledger[cell];
    atomicAdd((unsigned long long*)&total[l], (unsigned long long)sum);
    atomicMax(&largest[l], (int)sum);
}

void roman(const uint8_t* text, const int* ledger, int* value, long long* total, int* largest,
           int cells, int width, int ledgers)
{
    clear_ledgers<<<(ledgers + 255) / 256, 256>>>(total, largest, ledgers);
    read_cells<<<(cells + 255) / 256, 256>>>(text, ledger, value, total, largest, cells, width);
}
