// Where the least rotation of each row of letters begins (the first such place).
__global__ void necklace(const unsigned char* s, int* start, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* w = s + (long long)r * n;
    unsigned short place[256];
    int least = 256, m = 0;
    for (int c = 0; c < n; c++) {
        int a = w[c];
        if (a < least) {
            least = a;
            m = 0;
        }
        if (a == least && m < 256) place[m++] = c;
    }
    int best = place[0];
    for (int c = 1; c < m; c++) {
        int i = best, j = place[c], k = 0;
        while (k < n && w[i] == w[j]) {
            if (++i == n) i = 0;
            if (++j == n) j = 0;
            k++;
        }
        if (k < n && w[j] < w[i]) best = place[c];
    }
    start[r] = best;
}
