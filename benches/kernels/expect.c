// Writes the inputs and the expected results in data/: the kernels' arithmetic once more, on the CPU, in the order the PTX does it.
// IEEE 754 leaves no choice for +, *, /, square root and fma, so the results are exact.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MILLION = 1000000, SIDE = 256, BODIES = 2048, STARTS = 65536, BLOCK = 256, BLOCKS = (MILLION + BLOCK - 1) / BLOCK };

static void save(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)) exit(1);
}

static void saxpy(void)
{
    static float y[MILLION];
    for (int i = 0; i < MILLION; i++) y[i] = fmaf(2.5f, (float)i, 1.0f);
    save("data/saxpy.y.out", y, sizeof y);
}

static void sgemm(void)
{
    static float c[SIDE * SIDE];
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++) sum = fmaf((float)(row * SIDE + k), (float)(SIDE * SIDE - (k * SIDE + column)), sum);
            c[row * SIDE + column] = sum;
        }
    save("data/sgemm.c.out", c, sizeof c);
}

static void reduce(void)
{
    static uint32_t sums[BLOCKS];
    for (uint32_t i = 0; i < MILLION; i++) sums[i / BLOCK] += 7 * i;
    save("data/reduce.sums.out", sums, sizeof sums);
}

static void histogram(void)
{
    static uint32_t bins[256];
    for (uint32_t i = 0; i < MILLION; i++) bins[i * 2654435761u >> 24]++;
    save("data/histogram.bins.out", bins, sizeof bins);
}

static float unit(void)
{
    static uint64_t state = 2048;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(state >> 40) / (float)(1 << 24);
}

static void nbody(float cutoff2, int near_max)
{
    static float body[BODIES][4], pull[BODIES][4];
    for (int i = 0; i < BODIES; i++)
        for (int axis = 0; axis < 4; axis++) body[i][axis] = unit();
    for (int i = 0; i < BODIES; i++) {
        int near = 0;
        for (int j = 0; j < BODIES && near < near_max; j++) {
            float dx = body[j][0] - body[i][0], dy = body[j][1] - body[i][1], dz = body[j][2] - body[i][2];
            float r2 = fmaf(dz, dz, fmaf(dx, dx, dy * dy));
            if (j == i || r2 > cutoff2) continue;
            float soft2 = r2 + 0.01f;
            float strength = body[j][3] / (soft2 * sqrtf(soft2));
            pull[i][0] = fmaf(dx, strength, pull[i][0]);
            pull[i][1] = fmaf(dy, strength, pull[i][1]);
            pull[i][2] = fmaf(dz, strength, pull[i][2]);
            near++;
        }
        pull[i][3] = (float)near;
    }
    save("data/nbody.body.bin", body, sizeof body);
    save("data/nbody.pull.out", pull, sizeof pull);
}

static void collatz(void)
{
    static uint32_t steps[STARTS];
    for (uint64_t i = 0; i < STARTS; i++)
        for (uint64_t value = i + 1; value != 1; value = value % 2 ? 3 * value + 1 : value / 2) steps[i]++;
    save("data/collatz.steps.out", steps, sizeof steps);
}

int main(void)
{
    saxpy();
    sgemm();
    reduce();
    histogram();
    nbody(0.25f, 400);
    collatz();
}
