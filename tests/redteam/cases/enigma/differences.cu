#include <cstdint>

// Enigma I: each message has three wheels (left, middle, right; of five) and their start places; letters are 0..25.
__constant__ char WIRING[5][27] = {"EKMFLGDQVZNTOWYHXUSPAIBRCJ", "AJDKSIRUXBLHWTMCQGZNPYFVOE",
                                   "BDFHJLCPRTXVZNYEIWGAKMUSQO", "ESOVPZJAYQUIRHXLNFTGKDCMWB",
                                   "VZBRGITYUPSDNHLXAWMJQOFECK"};
__constant__ char NOTCH[6] = "QEVJZ";
__constant__ char REFLECTOR[27] = "YRUHQSLDPXNGOKMIEBFZCWVJAT";
__constant__ char PLUGS[27] = "AVSGLFDHWJKEMNRPQOCTUBIXYZ";

__device__ inline int turned(int by) { return by < 0 ? by + 26 : by; }

__global__ void enigma(const uint8_t* text, const uint8_t* wheels, const uint8_t* start, uint8_t* out, int messages,
                       int n) {
    __shared__ uint8_t forth[5][52], back[5][52], mirror[52], plugs[52];
    for (int i = threadIdx.x; i < 5 * 26; i += blockDim.x) {
        const int to = WIRING[i / 26][i % 26] - 'A';
        forth[i / 26][i % 26] = forth[i / 26][i % 26 + 26] = to;
        back[i / 26][to] = back[i / 26][to + 26] = i % 26;
    }
    for (int i = threadIdx.x; i < 26; i += blockDim.x) {
        mirror[i] = mirror[i + 26] = REFLECTOR[i] - 'A';
        plugs[i] = plugs[i + 26] = PLUGS[i] - 'A';
    }
    __syncthreads();

    const int message = blockIdx.x * blockDim.x + threadIdx.x;
    if (message >= messages) return;
    const int a = wheels[message * 3], b = wheels[message * 3 + 1], c = wheels[message * 3 + 2];
    int left = start[message * 3], middle = start[message * 3 + 1], right = start[message * 3 + 2];
    const int notch_b = NOTCH[b] - 'A', notch_c = NOTCH[c] - 'A';
    for (int i = 0; i < n; ++i) {
        if (middle == notch_b) {
            middle = middle == 25 ? 0 : middle + 1;
            left = left == 25 ? 0 : left + 1;
        } else if (right == notch_c) {
            middle = middle == 25 ? 0 : middle + 1;
        }
        right = right == 25 ? 0 : right + 1;
        const int rm = turned(middle - right), ml = turned(left - middle);
        int x = plugs[text[(size_t)message * n + i]];
        x = forth[c][x + right];
        x = forth[b][x + rm];
        x = forth[a][x + ml];
        x = mirror[x + turned(-left)];
        x = back[a][x + left];
        x = back[b][x + turned(-ml)];
        x = back[c][x + turned(-rm)];
        x = x + turned(-right);
        out[(size_t)message * n + i] = plugs[x];
    }
}
