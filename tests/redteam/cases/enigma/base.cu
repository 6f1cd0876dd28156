#include <cstdint>

// Enigma I: each message has three wheels (left, middle, right; of five) and their start places; letters are 0..25.
__constant__ char WIRING[5][27] = {"EKMFLGDQVZNTOWYHXUSPAIBRCJ", "AJDKSIRUXBLHWTMCQGZNPYFVOE",
                                   "BDFHJLCPRTXVZNYEIWGAKMUSQO", "ESOVPZJAYQUIRHXLNFTGKDCMWB",
                                   "VZBRGITYUPSDNHLXAWMJQOFECK"};
__constant__ char NOTCH[6] = "QEVJZ";
__constant__ char REFLECTOR[27] = "YRUHQSLDPXNGOKMIEBFZCWVJAT";
__constant__ char PLUGS[27] = "AVSGLFDHWJKEMNRPQOCTUBIXYZ";

__device__ inline int pass(const uint8_t* wheel, int letter, int place) {
    return (wheel[(letter + place) % 26] + 26 - place) % 26;
}

__global__ void enigma(const uint8_t* text, const uint8_t* wheels, const uint8_t* start, uint8_t* out, int messages,
                       int n) {
    __shared__ uint8_t forth[5][26], back[5][26], mirror[26], plugs[26];
    for (int i = threadIdx.x; i < 5 * 26; i += blockDim.x) {
        const int to = WIRING[i / 26][i % 26] - 'A';
        forth[i / 26][i % 26] = to;
        back[i / 26][to] = i % 26;
    }
    for (int i = threadIdx.x; i < 26; i += blockDim.x) {
        mirror[i] = REFLECTOR[i] - 'A';
        plugs[i] = PLUGS[i] - 'A';
    }
    __syncthreads();

    const int message = blockIdx.x * blockDim.x + threadIdx.x;
    if (message >= messages) return;
    const int a = wheels[message * 3], b = wheels[message * 3 + 1], c = wheels[message * 3 + 2];
    int left = start[message * 3], middle = start[message * 3 + 1], right = start[message * 3 + 2];
    const int notch_b = NOTCH[b] - 'A', notch_c = NOTCH[c] - 'A';
    for (int i = 0; i < n; ++i) {
        if (middle == notch_b) {
            middle = (middle + 1) % 26;
            left = (left + 1) % 26;
        } else if (right == notch_c) {
            middle = (middle + 1) % 26;
        }
        right = (right + 1) % 26;
        int x = plugs[text[(size_t)message * n + i]];
        x = pass(forth[c], x, right);
        x = pass(forth[b], x, middle);
        x = pass(forth[a], x, left);
        x = mirror[x];
        x = pass(back[a], x, left);
        x = pass(back[b], x, middle);
        x = pass(back[c], x, right);
        out[(size_t)message * n + i] = plugs[x];
    }
}
