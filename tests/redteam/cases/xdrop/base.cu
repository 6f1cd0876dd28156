// How far a match of two genomes goes on to the right of where it was found: its best score, and after how many letters
// that is reached first. A letter that differs costs; who falls more than `drop` below his best ends.
__global__ void xdrop(const unsigned char* query, const unsigned char* genome, const int* in_query,
                      const int* in_genome, int* best, int* length, int hits, int letters, int all, int match,
                      int cost, int drop) {
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= hits) return;
    int i = in_query[h] % letters, j = in_genome[h] % all;
    int score = 0, most = 0, reached = 0;
    for (int k = 0; i + k < letters && j + k < all; ++k) {
        score += query[i + k] == genome[j + k] ? match : -cost;
        if (score > most) {
            most = score;
            reached = k + 1;
        } else if (most - score > drop) {
            break;
        }
    }
    best[h] = most;
    length[h] = reached;
}
