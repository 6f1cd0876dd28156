// Accounts that refuse what they cannot pay: last balance, refusals, lowest balance and when it was first reached.
__global__ void overdraft(const int* start, const int* amount, int* last, int* refused, int* lowest, int* when, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* a = amount + (long long)r * n;
    int b = start[r], no = 0;
    unsigned key = (unsigned)b << 16;
    for (int t = 0; t < n; t++) {
        int next = b + a[t];
        if (next < 0) {
            no++;
            continue;
        }
        b = next;
        if (b < 65536) key = min(key, (unsigned)b << 16 | (unsigned)(t + 1));
    }
    int low = key >> 16, at = (int)(key & 0xffffu) - 1;
    last[r] = b;
    refused[r] = no;
    lowest[r] = low;
    when[r] = at;
}
