#define ALL 0xffffffffu

// Each lane asks another row by its last columns; who could be a twin is looked at by all.
__global__ void zwilling(const int* x, int* first, int rows, int cols) {
    int lane = threadIdx.x % 32;
    for (int i = blockIdx.x * 8 + threadIdx.x / 32; i < rows; i += gridDim.x * 8) {
        const int* own = x + (size_t)i * cols;
        int found = i;
        for (int j0 = 0; j0 < i && found == i; j0 += 32) {
            const int* other = x + (size_t)(j0 + lane) * cols;
            bool maybe = j0 + lane < i;
            for (int k = cols - 1; maybe && k >= max(0, cols - 4); --k) maybe = own[k] == other[k];
            unsigned left = __ballot_sync(ALL, maybe);
            while (left) {
                int j = j0 + __ffs(left) - 1;
                const int* twin = x + (size_t)j * cols;
                bool equal = true;
                for (int k = lane; k < cols && equal; k += 32) equal = own[k] == twin[k];
                if (__all_sync(ALL, equal)) {
                    found = j;
                    break;
                }
                left &= left - 1;
            }
        }
        if (lane == 0) first[i] = found;
    }
}
