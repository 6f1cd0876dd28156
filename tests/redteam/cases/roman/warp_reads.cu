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
    int lane = threadIdx.x & 31;
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    int first = cell - lane;
    int sum = 0;
    for (int c = 0; c < 32 && first + c < cells; ++c) {
        const uint8_t* letters = text + (size_t)(first + c) * width;
        int part = 0;
        for (int from = 0; from < width; from += 32) {
            int i = from + lane;
            int letter = i < width ? letters[i] & 7 : 0;
            int next = i + 1 < width ? letters[i + 1] & 7 : 0;
            unsigned ends = __ballot_sync(0xffffffffu, letter == 0);
            int here = ends ? __ffs(ends) - 1 : 32;
            if (lane < here) part += letter < next ? -worth[letter] : worth[letter];
            if (ends) break;
        }
        part = __reduce_add_sync(0xffffffffu, part);
        if (lane == c) sum = part;
    }
    if (cell >= cells) return;
    value[cell] = sum;
    int l = ledger[cell];
    atomicAdd((unsigned long long*)&total[l], (unsigned long long)sum);
    atomicMax(&largest[l], sum);
}

void roman(const uint8_t* text, const int* ledger, int* value, long long* total, int* largest,
           int cells, int width, int ledgers)
{
    clear_ledgers<<<(ledgers + 255) / 256, 256>>>(total, largest, ledgers);
    read_cells<<<(cells + 255) / 256, 256>>>(text, ledger, value, total, largest, cells, width);
}
