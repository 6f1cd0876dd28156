// Accounts that refuse what they cannot pay: last balance, refusals, lowest balance and when it was first reached.
__global__ void overdraft(const int* start, const int* amount, int* last, int* refused, int* lowest, int* when, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* a = amount + (long long)r * n;
    int b = start[r], low = b, at = -1;
    // refusals above, 19 bits of balance below
    unsigned both = b;
    for (int t = 0; t < n; t++) {
        int d = a[t];
        if (d < -(int)(both & 0x7ffffu)) {
            both += 1u << 19;
            continue;
        }
        both += d;
        b = both & 0x7ffffu;
        if (b < low) {
            low = b;
            at = t;
        }
    }
    int no = both >> 19;
    last[r] = b;
    refused[r] = no;
    lowest[r] = low;
    when[r] = at;
}
