// Scores hands of cribbage: four cards and the starter, a block for each table.
// A card is suit * 13 + rank; ranks are 0 (ace) to 12 (king). Decks are mixed, so cards may repeat.

__device__ int scored(const unsigned char* card)
{
    int rank[5], suit[5], value[5];
    for (int k = 0; k < 5; ++k) {
        rank[k] = card[k] % 13;
        suit[k] = card[k] / 13;
        value[k] = rank[k] < 9 ? rank[k] + 1 : 10;
    }
    int points = 0;

    // Two for every set of cards that makes fifteen.
    for (int set = 1; set < 32; ++set) {
        int sum = 0;
        for (int k = 0; k < 5; ++k)
            if (set >> k & 1) sum += value[k];
        if (sum == 15) points += 2;
    }

    // Two for every pair.
    for (int k = 0; k < 5; ++k)
        for (int m = k + 1; m < 5; ++m)
            if (rank[k] == rank[m]) points += 2;

    // A run of three or more, as often as it can be made.
    int held[13];
    for (int r = 0; r < 13; ++r) held[r] = 0;
    for (int k = 0; k < 5; ++k) ++held[rank[k]];
    int length = 0, ways = 1;
    for (int r = 0; r < 13; ++r) {
        if (held[r]) {
            ++length;
            ways *= held[r];
        }
        if (!held[r] || r == 12) {
            if (length >= 3) points += length * ways;
            length = 0;
            ways = 1;
        }
    }

    // A flush of the hand, with or without the starter.
    if (suit[0] == suit[1] && suit[0] == suit[2] && suit[0] == suit[3])
        points += suit[0] == suit[4] ? 5 : 4;

    // Jacks of the starter's suit.
    for (int k = 0; k < 4; ++k)
        if (rank[k] == 10 && suit[k] == suit[4]) ++points;
    return points;
}

__global__ void cribbage(const unsigned char* card, int* score, int* best, int* tally, int hands)
{
    __shared__ int most[128], place[128];
    const size_t first = (size_t)blockIdx.x * hands;
    int top = -1, where = 0;
    for (int h = threadIdx.x; h < hands; h += 128) {
        const int points = scored(card + (first + h) * 5);
        score[first + h] = points;
        atomicAdd(&tally[points], 1);
        if (points > top) {
            top = points;
            where = h;
        }
    }
    most[threadIdx.x] = top;
    place[threadIdx.x] = where;
    __syncthreads();

    // The best hand of the table; of equals, the first.
    if (threadIdx.x == 0) {
        for (int t = 1; t < 128; ++t)
            if (most[t] > top || (most[t] == top && place[t] < where)) {
                top = most[t];
                where = place[t];
            }
        best[blockIdx.x] = where;
    }
}
