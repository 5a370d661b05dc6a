// The steps from thread number + 1 down to 1 by the rule of Collatz, in 64 bits: a loop whose length no two lanes share.
extern "C" __global__ void collatz(unsigned n, unsigned *steps)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long value = i + 1;
    unsigned count = 0;
    while (value != 1) {
        value = value % 2 ? 3 * value + 1 : value / 2;
        count++;
    }
    steps[i] = count;
}
