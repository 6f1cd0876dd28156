// Levels of many rain cisterns over time. A step adds its flow (draws are negative); what exceeds the
// capacity runs over and is counted, and a cistern that would go below empty stays empty.
extern "C" __global__ void cistern(const int* flow, const int* start, const int* cap, int* level, int* spill,
                                   int rows, int steps)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* f = flow + (size_t)r * steps;
    int* out = level + (size_t)r * steps;
    int top = cap[r];
    int v = start[r];
    int over = 0;
    for (int t = 0; t < steps; t++) {
        v += f[t];
        if (v > top) {
            over += v - top;
            v = top;
        }
        if (v < 0) v = 0;
        out[t] = v;
    }
    spill[r] = over;
}
