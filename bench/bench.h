/* Costs of single operations, for xoff bench. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

struct bench_operation {
    const char *name;
    double ns; /* median of several rounds */
};

struct bench_size {
    const char *name;
    size_t bytes;
};

#define BENCH_MAX 32
/* Return the number of rows filled. `clock` gives seconds. */
unsigned bench_operations(double (*clock)(void), struct bench_operation rows[BENCH_MAX]);
unsigned bench_codecs(double (*clock)(void), struct bench_operation rows[BENCH_MAX]);
unsigned bench_sizes(struct bench_size rows[BENCH_MAX]);

/* Writes config.txt and the files it names, for a leaf-spine of 64 hosts with web search flows. */
void bench_write_hpcc(const char *dir, uint32_t n_flows, double load);

/* Measures how long a cache line takes from one core to another and back, in ns (line.c). 0: a core
 * had to run both threads. */
double bench_line_ns(double (*clock_s)(void));

#endif
