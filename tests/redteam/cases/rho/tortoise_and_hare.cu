#include <cuda_runtime.h>

// Where each node of a functional graph ends up: the steps until a cycle, the cycle's length and
// its least node.
__global__ void follow(const int* next, int* tail, int* cycle, int* least, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    int slow = next[i];
    int fast = next[slow];
    while (slow != fast) {
        slow = next[slow];
        fast = next[next[fast]];
    }

    // from the meeting place it is a whole number of rounds to the cycle's first node
    slow = i;
    int steps = 0;
    while (slow != fast) {
        slow = next[slow];
        fast = next[fast];
        ++steps;
    }

    int low = slow;
    int length = 1;
    for (int node = next[slow]; node != slow; node = next[node]) {
        low = min(low, node);
        ++length;
    }
    tail[i] = steps;
    cycle[i] = length;
    least[i] = low;
}

void rho(const int* next, int* tail, int* cycle, int* least, int n)
{
    follow<<<(n + 127) / 128, 128>>>(next, tail, cycle, least, n);
}
