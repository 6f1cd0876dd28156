// Accounts that refuse what they cannot pay: last balance, refusals, lowest balance and when it was first reached.
__global__ void overdraft(const int* start, const int* amount, int* last, int* refused, int* lowest, int* when, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int tile[128][33];
    int first = blockIdx.x * blockDim.x;
    int b = r < rows ? start[r] : 0, low = b, at = -1, no = 0;
    for (int from = 0; from < n; from += 32) {
        int m = min(32, n - from);
        int lane = threadIdx.x & 31;
        for (int k = threadIdx.x >> 5; k < 128; k += 4)
            tile[k][lane] = first + k < rows && lane < m ? amount[(long long)(first + k) * n + from + lane] : 0;
        __syncthreads();
        for (int j = 0; j < m; j++) {
            int next = b + tile[threadIdx.x][j];
            if (next < 0) {
                no++;
                continue;
            }
            b = next;
            if (b < low) {
                low = b;
                at = from + j;
            }
        }
        __syncthreads();
    }
    if (r >= rows) return;
    last[r] = b;
    refused[r] = no;
    lowest[r] = low;
    when[r] = at;
}
