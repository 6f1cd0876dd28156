// Value of the best hand of poker among seven cards. The cards come from many packs: a card may be there twice.
// A card is 4 * rank + suit. Value: class, then the ranks that make it, then the kickers (13 bits each).
#include <cstdint>
constexpr int CARDS = 7;
__device__ int highest(int ranks, int k) {
    int kept = 0;
    for (; k > 0 && ranks; k--) {
        int bit = 1 << (31 - __clz(ranks));
        kept |= bit;
        ranks ^= bit;
    }
    return kept;
}
// lowest place of the highest straight as a bit, 0 where there is none; an ace counts as a one, too
__device__ int straight(int ranks) {
    int r = ranks << 1 | (ranks >> 12 & 1);
    return highest(r & r >> 1 & r >> 2 & r >> 3 & r >> 4, 1);
}
__device__ int value(int cls, int made, int kickers) { return cls << 26 | made << 13 | kickers; }
__global__ void kicker(const uint8_t* cards, int* score, int hands) {
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= hands) return;
    const uint8_t* hand = cards + (size_t)h * CARDS;
    int one = 0, two = 0, three = 0, four = 0;
    int suit[4] = {};
    for (int i = 0; i < CARDS; i++) {
        int bit = 1 << (hand[i] >> 2);
        // a counter that stops at four, in four planes
        four |= three & bit;
        three |= two & bit;
        two |= one & bit;
        one |= bit;
        suit[hand[i] & 3] |= bit;
    }
    // straights of all ranks are looked for once; is the highest, or the next, of one suit?
    int flush = 0, run = 0, any = straight(one);
    for (int s = 0; s < 4; s++) {
        if (__popc(suit[s]) < 5) continue;
        flush = highest(suit[s], 5);
        int r = suit[s] << 1 | (suit[s] >> 12 & 1);
        for (int low = any, tries = 0; low && tries < 2; low >>= 1, tries++)
            if (!run && (r & 31 * low) == 31 * low) run = low;
    }
    int trips = highest(three, 1), pair = highest(two & ~trips, 1);
    int v;
    if (run) v = value(8, run, 0);
    else if (four) v = value(7, highest(four, 1), highest(one & ~highest(four, 1), 1));
    else if (trips && pair) v = value(6, trips, pair);
    else if (flush) v = value(5, flush, 0);
    else if (straight(one)) v = value(4, straight(one), 0);
    else if (trips) v = value(3, trips, highest(one & ~trips, 2));
    else if (two & (two - 1)) v = value(2, highest(two, 2), highest(one & ~highest(two, 2), 1));
    else if (two) v = value(1, two, highest(one & ~two, 3));
    else v = value(0, highest(one, 5), 0);
    score[h] = v;
}
