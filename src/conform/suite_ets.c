/* ETS: shares of the classes at a bottleneck.
 *
 * Source: "Fairness in a data center" 3.2.2 and the UNH-IOL suite's titles, whose numbers 37.1.x
 * are kept; those of group 2 are ours. Rules: 802.1Q 37.3: a class gets its percentage of what
 * strict classes leave, within 10 % of it, and unused shares go to the others.
 *
 * Each class comes in at line rate by a port of its own, all go out by port 0. Shares are of the
 * octets of frames or of the wire (with preamble and gap): the standard does not say which, so a
 * device passes if one of the two fits.
 */
#include "conform/suites.h"

#define FRAME_BYTES 1000
#define TOLERANCE 0.10 /* of the assigned share */

static xoff_time settled(const struct station *st)
{
    return station_learnt(st) + station_quanta(st, 1000);
}

/* Time in which 20000 quanta pass, 1 ms at 10 Gb/s: many rounds of the scheduler. */
static xoff_time measured_for(const struct station *st)
{
    return station_quanta(st, 20000);
}

/* What was sent of the priority in the measured time, as a fraction of what the line carries. */
static double share_of(const struct station *st, uint8_t priority, xoff_time from, xoff_time to)
{
    const uint64_t bytes = station_bytes(st, 0, priority, from, to, true);
    return (double)bytes * 8 * (double)XOFF_S / (double)st->rate_bps / (double)(to - from);
}

static bool is_near(double share, double wanted)
{
    return share >= wanted * (1 - TOLERANCE) && share <= wanted * (1 + TOLERANCE);
}

/* Compares shares with each other, by octets of frames and by octets of the wire. */
struct shares {
    double of_frames[XOFF_N_PRIORITIES], of_wire[XOFF_N_PRIORITIES];
};

static struct shares read_shares(const struct station *st, uint8_t classes, xoff_time from,
                                 xoff_time to)
{
    struct shares shares = {0};
    double frames = 0, wire = 0;
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!(classes >> p & 1))
            continue;
        shares.of_frames[p] = (double)station_bytes(st, 0, p, from, to, false);
        shares.of_wire[p] = (double)station_bytes(st, 0, p, from, to, true);
        frames += shares.of_frames[p];
        wire += shares.of_wire[p];
    }
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        shares.of_frames[p] = frames > 0 ? shares.of_frames[p] / frames : 0;
        shares.of_wire[p] = wire > 0 ? shares.of_wire[p] / wire : 0;
    }
    return shares;
}

/* Every class of `classes` must have its percentage, of the sum of their percentages. */
static void check_shares(struct station *st, uint8_t classes, xoff_time from, xoff_time to)
{
    const struct shares shares = read_shares(st, classes, from, to);
    double sum = 0;
    bool by_frames = true, by_wire = true;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        sum += classes >> p & 1 ? st->setup.percent[p] : 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        if (classes >> p & 1) {
            by_frames &= is_near(shares.of_frames[p], st->setup.percent[p] / sum);
            by_wire &= is_near(shares.of_wire[p], st->setup.percent[p] / sum);
        }
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES && !by_frames && !by_wire; p++)
        if (classes >> p & 1)
            station_check(st, is_near(shares.of_frames[p], st->setup.percent[p] / sum),
                          "priority %u has %.1f %%, assigned are %.1f %%", p,
                          100 * shares.of_frames[p], 100 * st->setup.percent[p] / sum);
    station_check(st, by_frames || by_wire, "no reading of the shares fits");
}

static void check_line(struct station *st, uint8_t classes, xoff_time from, xoff_time to)
{
    double used = 0;
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++)
        used += classes >> p & 1 ? share_of(st, p, from, to) : 0;
    station_check(st, used > 0.99, "the line is used to %.1f %% only", 100 * used);
}

/* The priority of a class: `n` classes are spread over the eight. */
static uint8_t priority_of(uint32_t class, uint32_t n)
{
    return (uint8_t)(class * XOFF_N_PRIORITIES / n);
}

static uint8_t priorities_of(uint32_t n)
{
    uint8_t priorities = 0;
    for (uint32_t i = 0; i < n; i++)
        priorities |= (uint8_t)(1u << priority_of(i, n));
    return priorities;
}

/* A bridge with these percentages; class i comes in by port i + 1 at line rate. */
static bool begin_classes(struct station *st, const uint8_t *percent, uint32_t n,
                          struct xoff_device_setup *setup)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        setup->percent[p] = 0;
    for (uint32_t i = 0; i < n; i++)
        setup->percent[priority_of(i, n)] = percent[i];
    if (!station_begin(st, setup))
        return false;
    for (uint16_t i = 0; i < n; i++)
        station_stream(st, i + 1, 0, priority_of(i, n), FRAME_BYTES);
    return true;
}

static void test_tables(struct station *st, const uint8_t (*tables)[8], uint32_t n_tables,
                        uint32_t n)
{
    const uint8_t classes = priorities_of(n);
    double worst = 0;
    for (uint32_t i = 0; i < n_tables; i++) {
        struct xoff_device_setup setup = station_setup(st, (uint16_t)(n + 1));
        if (!begin_classes(st, tables[i], n, &setup))
            return;
        const xoff_time to = settled(st) + measured_for(st);
        station_run(st, to);
        check_shares(st, classes, settled(st), to);
        check_line(st, classes, settled(st), to);
        const struct shares shares = read_shares(st, classes, settled(st), to);
        for (uint32_t p = 0; p < n; p++) {
            const double error = shares.of_frames[priority_of(p, n)] * 100 / tables[i][p] - 1;
            worst = error > worst ? error : -error > worst ? -error : worst;
        }
    }
    station_note(st, "%u tables; largest deviation %.1f %% of the share", n_tables, 100 * worst);
}

static void test_two(struct station *st)
{
    static const uint8_t tables[][8] = {{50, 50}, {30, 70}, {10, 90}, {80, 20}};
    test_tables(st, tables, 4, 2);
}

static void test_three(struct station *st)
{
    static const uint8_t tables[][8] = {{33, 33, 34}, {20, 30, 50}, {60, 30, 10}};
    test_tables(st, tables, 3, 3);
}

static void test_four(struct station *st)
{
    static const uint8_t tables[][8] = {{25, 25, 25, 25}, {10, 20, 30, 40}, {70, 10, 10, 10}};
    test_tables(st, tables, 3, 4);
}

static void test_eight(struct station *st)
{
    static const uint8_t tables[][8] = {{12, 12, 12, 12, 13, 13, 13, 13},
                                        {5, 5, 10, 10, 15, 15, 20, 20}};
    test_tables(st, tables, 2, 8);
}

/* 37.1.5 */
static void test_sharing(struct station *st)
{
    static const uint8_t percent[] = {20, 30, 50};
    struct xoff_device_setup setup = station_setup(st, 4);
    if (!begin_classes(st, percent, 3, &setup))
        return;
    const xoff_time to = settled(st) + measured_for(st);
    /* Class 2 offers a tenth of the line, so nine tenths are left for 20 and 30. */
    st->streams[2].every = 10 * station_bits(st, 8 * (FRAME_BYTES + XOFF_OVERHEAD_BYTES));
    station_run(st, to);
    check_line(st, priorities_of(3), settled(st), to);
    check_shares(st, 1 << 0 | 1 << 2, settled(st), to);
    const double light = share_of(st, 5, settled(st), to);
    station_check(st, light > 0.099, "the class below its share gets %.1f %% of the 10 %% offered",
                  100 * light);
    station_note(st, "what a class leaves goes to the others: %.1f, %.1f, %.1f %%",
                 100 * share_of(st, 0, settled(st), to), 100 * share_of(st, 2, settled(st), to),
                 100 * light);
}

/* 37.1.6 */
static void test_lossless(struct station *st)
{
    static const uint8_t percent[] = {50, 50};
    struct xoff_device_setup setup = station_setup(st, 3);
    setup.pfc = 1 << 4;
    if (!begin_classes(st, percent, 2, &setup))
        return;
    station_obey(st, 2);
    const xoff_time from = settled(st) + measured_for(st), to = from + measured_for(st);
    st->streams[0].to = st->streams[1].to = to;
    station_run(st, to + 2 * measured_for(st));
    check_shares(st, priorities_of(2), from, to);
    check_line(st, priorities_of(2), from, to);
    station_check(st, !station_lost(st, &st->streams[1]), "%u lossless frames lost",
                  station_lost(st, &st->streams[1]));
    station_check(st, station_lost(st, &st->streams[0]) > 0, "the lossy class lost nothing");
    station_note(st, "halves, %u lossy frames lost and no lossless one",
                 station_lost(st, &st->streams[0]));
}

/* 37.1.7 */
static void test_strict(struct station *st)
{
    static const uint8_t percent[] = {25, 75};
    struct xoff_device_setup setup = station_setup(st, 4);
    setup.strict = 1 << 7;
    if (!begin_classes(st, percent, 2, &setup))
        return;
    const xoff_time to = settled(st) + measured_for(st);
    /* The strict class offers two fifths of the line. */
    station_stream(st, 3, 0, 7, FRAME_BYTES)->every =
        station_bits(st, 8 * (FRAME_BYTES + XOFF_OVERHEAD_BYTES) * 5 / 2);
    station_run(st, to);
    const double strict = share_of(st, 7, settled(st), to);
    station_check(st, strict > 0.396, "the strict class gets %.1f %% of the line, it offers 40 %%",
                  100 * strict);
    check_shares(st, priorities_of(2), settled(st), to);
    check_line(st, priorities_of(2) | 1 << 7, settled(st), to);
    station_note(st, "strict has its %.1f %%, the rest is shared 25 to 75", 100 * strict);
}

/* ETS.2.1 */
static void test_alone(struct station *st)
{
    static const uint8_t percent[] = {5, 5, 10, 10, 15, 15, 20, 20};
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        struct xoff_device_setup setup = station_setup(st, 2);
        const xoff_time to = settled(st) + measured_for(st) / 4;
        for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
            setup.percent[q] = percent[q];
        if (!station_begin(st, &setup))
            return;
        station_stream(st, 1, 0, p, FRAME_BYTES);
        station_run(st, to);
        check_line(st, (uint8_t)(1u << p), settled(st), to);
    }
    station_note(st, "each class alone has the whole line");
}

/* ETS.2.2 */
static void test_sizes(struct station *st)
{
    static const uint8_t percent[] = {50, 50};
    struct xoff_device_setup setup = station_setup(st, 3);
    if (!begin_classes(st, percent, 2, &setup))
        return;
    const xoff_time to = settled(st) + measured_for(st);
    st->streams[0].bytes = 64;
    st->streams[1].bytes = 1522;
    station_run(st, to);
    check_shares(st, priorities_of(2), settled(st), to);
    const struct shares shares = read_shares(st, priorities_of(2), settled(st), to);
    station_note(st, "64 and 1522 bytes: %.1f and %.1f %% of the octets", 100 * shares.of_frames[0],
                 100 * shares.of_frames[4]);
}

/* ETS.2.3 */
static void test_paused(struct station *st)
{
    static const uint8_t percent[] = {20, 30, 50};
    struct xoff_device_setup setup = station_setup(st, 4);
    setup.pfc = 1 << 5;
    if (!begin_classes(st, percent, 3, &setup))
        return;
    station_obey(st, 3);
    const xoff_time limit = station_limit(st), lasts = measured_for(st);
    station_pause(st, 0, settled(st), 1 << 5, 65535);
    station_pause(st, 0, settled(st) + lasts, 1 << 5, 0);
    station_run(st, settled(st) + 3 * lasts);
    check_shares(st, 1 << 0 | 1 << 2, settled(st) + limit, settled(st) + lasts);
    check_line(st, 1 << 0 | 1 << 2, settled(st) + limit, settled(st) + lasts);
    check_shares(st, priorities_of(3), settled(st) + 2 * lasts, settled(st) + 3 * lasts);
    station_note(st, "the share of a paused class goes to the others and comes back");
}

#define ETS_TEST(number, function, ports, name, why, how)                              \
    {                                                                                  \
        .id = number, .suite = "ets", .title = name, .purpose = why, .procedure = how, \
        .run = function, .n_ports = ports,                                             \
    }

#define BY_TABLES                                                                          \
    "Send each class at line rate by a port of its own to port 0, with several tables of " \
    "percentages, and count for 20000 quanta."
#define WITHIN " get their percentages within 10 % of them, and the line is full."

const struct xoff_conform_test ets_tests[] = {
    ETS_TEST("37.1.1", test_two, 3, "two traffic classes", "Two classes" WITHIN, BY_TABLES),
    ETS_TEST("37.1.2", test_three, 4, "three traffic classes", "Three classes" WITHIN, BY_TABLES),
    ETS_TEST("37.1.3", test_four, 5, "four traffic classes", "Four classes" WITHIN, BY_TABLES),
    ETS_TEST("37.1.4", test_eight, 9, "eight traffic classes", "Eight classes" WITHIN, BY_TABLES),
    ETS_TEST("37.1.5", test_sharing, 4, "bandwidth sharing",
             "A share that is not used goes to the classes that can use it (work conservation).",
             "Classes of 20, 30 and 50 %; the last offers 10 % of the line, the others all of it."),
    ETS_TEST("37.1.6", test_lossless, 3, "lossy and lossless",
             "A lossless class that is paused and a lossy one that is cut both get their shares.",
             "Halves for a lossy and a lossless class, both at line rate; the station obeys PFC."),
    ETS_TEST("37.1.7", test_strict, 4, "strict priority first",
             "Strict classes are served first, ETS classes share what they leave.",
             "A strict class offers 40 % of the line; classes of 25 and 75 % offer all of it."),
    ETS_TEST("ETS.2.1", test_alone, 2, "baseline", "Each class alone can fill the line.",
             "Send each class alone at line rate, with percentages from 5 to 20."),
    ETS_TEST("ETS.2.2", test_sizes, 3, "unequal frames", "Shares are of octets, not of frames.",
             "Halves for frames of 64 and of 1522 bytes."),
    ETS_TEST("ETS.2.3", test_paused, 4, "a paused class",
             "While a class is paused the others share the line; afterwards it has its share.",
             "Classes of 20, 30 and 50 %; pause the last for 20000 quanta."),
    {0},
};
