// How often does each row change its sign, and where last? Zeros and what is no number have no sign and are passed over.
__global__ void vibrato(const float* x, int* changes, int* last, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    const float* values = x + (size_t)row * n;
    int carried = 0, count = 0, place = -1;
    for (int first = 0; first < n; first += 32) {
        float v = first + lane < n ? values[first + lane] : 0.0f;
        unsigned above = __ballot_sync(0xffffffffu, v > 0.0f);
        unsigned below = __ballot_sync(0xffffffffu, v < 0.0f);
        unsigned either = above | below;
        if (either == 0)
            continue;
        unsigned earlier = either & ((1u << lane) - 1);
        int sign = (int)(above >> lane & 1) - (int)(below >> lane & 1);
        int before = carried;
        if (earlier != 0) {
            int top = 31 - __clz((int)earlier);
            before = (above >> top & 1) ? 1 : -1;
        }
        unsigned changed = __ballot_sync(0xffffffffu, sign * before < 0);
        count += __popc(changed);
        if (changed != 0)
            place = first + 31 - __clz((int)changed);
        int top = 31 - __clz((int)either);
        carried = (above >> top & 1) ? 1 : -1;
    }
    if (lane == 0) {
        changes[row] = count;
        last[row] = place;
    }
}
