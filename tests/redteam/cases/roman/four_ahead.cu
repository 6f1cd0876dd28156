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
    int sum = 0;
    if (width % 4 == 0) {
        const unsigned* words = reinterpret_cast<const unsigned*>(letters);
        int count = width / 4;
        unsigned word = words[0] & 0x07070707u;
        for (int k = 0; k < count; ++k) {
            unsigned following = k + 1 < count || cell + 1 < cells ? words[k + 1] & 0x07070707u : 0u;
            unsigned next = __funnelshift_r(word, following, 8);
            unsigned zeros = (word - 0x01010101u) & ~word & 0x80808080u;
            int here = zeros ? (__ffs(zeros) - 8) / 8 : 4;
            for (int j = 0; j < here; ++j) {
                int letter = word >> (8 * j) & 7;
                int other = next >> (8 * j) & 7;
                sum += letter < other ? -worth[letter] : worth[letter];
            }
            if (zeros) break;
            word = following;
        }
    } else {
        for (int i = 0; i < width; ++i) {
            int letter = letters[i] & 7;
            if (letter == 0) break;
            int next = i + 1 < width ? letters[i + 1] & 7 : 0;
            sum += worth[letter] < worth[next] ? -worth[letter] : worth[letter];
        }
    }
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
