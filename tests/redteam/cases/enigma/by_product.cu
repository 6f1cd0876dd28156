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

    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)messages * n) return;
    const int message = at / n, i = at % n;
    const int a = wheels[message * 3], b = wheels[message * 3 + 1], c = wheels[message * 3 + 2];
    int left = start[message * 3], middle = start[message * 3 + 1];
    const int notch_b = NOTCH[b] - 'A', notch_c = NOTCH[c] - 'A', first = start[message * 3 + 2];
    const int k = i + 1;
    // the right wheel turns the middle one at steps rest, rest + 26, rest + 52, ...
    const int rest = (notch_c - first + 26) % 26 + 1;
    int turns = k < rest ? 0 : ((k - rest) * 2521 >> 16) + 1;
    bool fresh = k >= rest && (k - rest) % 26 == 0;
    if (middle == notch_b) {
        // the first step moves both, and a turn of the right wheel there is the same one
        middle = (middle + 1) % 26;
        left = (left + 1) % 26;
        if (rest == 1) {
            --turns;
            fresh = fresh && k > 1;
        }
    }
    // to the notch, and from there on 25 turns each time, as the middle wheel does not stay there
    const int way = (notch_b - middle + 26) % 26;
    if (turns < way) {
        middle = (middle + turns) % 26;
    } else {
        const int laps = (turns - way) / 25, over = (turns - way) % 25;
        const bool there = over == 0 && fresh;
        middle = (notch_b + 1 + over - (there ? 1 : 0) + 26) % 26;
        left = (left + laps + (there ? 0 : 1)) % 26;
    }
    const int right = (first + k) % 26;
    int x = plugs[text[at]];
    x = pass(forth[c], x, right);
    x = pass(forth[b], x, middle);
    x = pass(forth[a], x, left);
    x = mirror[x];
    x = pass(back[a], x, left);
    x = pass(back[b], x, middle);
    x = pass(back[c], x, right);
    out[at] = plugs[x];
}
