// Sowing games (two sides of six pits and a store): the moves of all games are alike.
__global__ void mancala(const int* start, const int* moves, int* end, int* turns, int boards, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= boards) return;
    int pit[14];
    for (int k = 0; k < 14; k++) pit[k] = start[(long long)k * boards + g];
    int side = 0, played = 0;
    for (int t = 0; t < n; t++) {
        int from = side * 7 + moves[t];
        int seeds = pit[from];
        if (seeds == 0) {
            side ^= 1;
            continue;
        }
        played++;
        pit[from] = 0;
        int at = from;
        while (seeds > 0) {
            at = at == 13 ? 0 : at + 1;
            if (at == 13 - side * 7) continue;
            pit[at]++;
            seeds--;
        }
        int store = side * 7 + 6;
        if (at == store) continue;
        if (pit[at] == 1 && at / 7 == side && pit[12 - at] > 0) {
            pit[store] += 1 + pit[12 - at];
            pit[at] = 0;
            pit[12 - at] = 0;
        }
        side ^= 1;
    }
    for (int k = 0; k < 14; k++) end[(long long)k * boards + g] = pit[k];
    turns[g] = played;
}
