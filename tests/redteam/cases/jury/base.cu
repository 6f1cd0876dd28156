// Ballots of many juries: every verdict that more than a quarter of a jury voted for. There are at most three; they are
// listed in ascending order, the places that stay empty hold -1.
#include <cuda_runtime.h>

__global__ void verdicts(const int* __restrict__ ballots, int* __restrict__ heavy, int rows, int m)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* row = ballots + (long long)r * m;
    int value[3] = {-1, -1, -1};
    int weight[3] = {0, 0, 0};
    for (int i = 0; i < m; ++i) {                       // Misra and Gries
        int v = row[i];
        bool done = false;
        for (int k = 0; k < 3; ++k)
            if (!done && weight[k] > 0 && value[k] == v) { ++weight[k]; done = true; }
        for (int k = 0; k < 3; ++k)
            if (!done && weight[k] == 0) { value[k] = v; weight[k] = 1; done = true; }
        if (!done)
            for (int k = 0; k < 3; ++k) --weight[k];
    }
    int count[3] = {0, 0, 0};
    for (int i = 0; i < m; ++i) {
        int v = row[i];
        for (int k = 0; k < 3; ++k)
            if (weight[k] > 0 && value[k] == v) ++count[k];
    }
    int kept[3], number = 0;
    for (int k = 0; k < 3; ++k)
        if (4 * (long long)count[k] > m) {
            int at = number++;
            while (at > 0 && kept[at - 1] > value[k]) { kept[at] = kept[at - 1]; --at; }
            kept[at] = value[k];
        }
    for (int k = 0; k < 3; ++k) heavy[3LL * r + k] = k < number ? kept[k] : -1;
}

extern "C" void jury(const int* ballots, int* heavy, int rows, int m)
{
    verdicts<<<(rows + 63) / 64, 64>>>(ballots, heavy, rows, m);
}
