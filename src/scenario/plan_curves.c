/* `curves:` of a scenario: series of `measure` at one place, by name.
 *
 * A curve is made of samples, so its demands on `measure` are checked here: that there are samples,
 * that its series is among them, that one of them falls between a stated `from` and `to`. build.c
 * checks whether the place exists, and warns of a curve that the run's end leaves empty.
 */
#include "scenario/plan_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "stats/results.h"

_Static_assert(RESULT_QUEUE_BYTES == 0 && RESULT_BUFFER_BYTES == 3 && RESULT_INSURANCE_BYTES == 7 &&
                   RESULT_INPUT_BYTES == 8 && RESULT_CONTROL_RATIO == 11 && RESULT_JAIN == 12 &&
                   RESULT_EVENNESS == 13,
               "section_curve_words is in the order of enum result_metric");

/* Returns the word of measure.series that a curve needs. */
static const char *series_of(int64_t of)
{
    if (plan_is_of_hosts(of))
        return section_curve_words[RESULT_TX_BPS];
    if (of >= RESULT_ADVERTISED_BPS)
        return "point";
    return plan_is_of_switch(of) && of != RESULT_BUFFER_BYTES ? "pools" : section_curve_words[of];
}

static bool is_measured(const struct plan *plan, const char *series)
{
    for (uint32_t i = 0; section_series[i]; i++)
        if (strcmp(section_series[i], series) == 0)
            return plan->net.measure >> i & 1;
    return false;
}

/* Fails at a key of the curve, or at the curve itself if the key is absent. */
static int fail_at(struct fields_reader *r, const struct yaml_node *curve, const char *key,
                   const char *message)
{
    const struct yaml_node *node = yaml_find(curve, key);
    const size_t length = fields_enter(r, key);
    const int rc = fields_fail(r, node ? node : curve, XOFF_E_CONFLICT, message);
    fields_leave(r, length);
    return rc;
}

static int check_curve(struct fields_reader *r, const struct yaml_node *node,
                       const struct plan *plan, const struct plan_curve *curve)
{
    const int64_t every = plan->net.measure_every;
    const int64_t over = curve->over == XOFF_PARAM_AUTO ? every : curve->over;
    char message[160], text[32];
    if (!every)
        return fail_at(
            r, node, "of",
            "a curve is made of samples, and there are none; add measure: {every: 10us}");
    const char *series = series_of(curve->of);
    if (!is_measured(plan, series)) {
        snprintf(message, sizeof message, "is not sampled; add %s to measure.series", series);
        return fail_at(r, node, "of", message);
    }
    if (plan_is_of_switch(curve->of) && curve->priority != XOFF_PARAM_AUTO)
        return fail_at(r, node, "priority",
                       "this series is of a switch, not of a priority; leave it out");
    if (plan_is_of_hosts(curve->of) && curve->priority != XOFF_PARAM_AUTO)
        return fail_at(r, node, "priority",
                       "of a host there is throughput of all priorities together; leave it out");
    if (curve->level != XOFF_PARAM_AUTO && curve->of != RESULT_TX_BPS &&
        curve->of != RESULT_ADVERTISED_BPS)
        return fail_at(r, node, "level",
                       "is a rate, and only throughput and advertised are; leave it out");
    if (curve->of != RESULT_EVENNESS && (curve->share != XOFF_PARAM_AUTO || curve->within >= 0))
        return fail_at(r, node, curve->within >= 0 ? "within" : "share",
                       "is about a share, and only evenness has one; leave it out");
    if (curve->to != XOFF_PARAM_AUTO && curve->from >= curve->to)
        return fail_at(r, node, "from", "not before to; give an earlier from, or a later to");
    if (over % every) {
        snprintf(message, sizeof message, "is not a multiple of measure.every, which is %s",
                 xoff_format_time(text, sizeof text, every));
        return fail_at(r, node, "over", message);
    }
    if (curve->to != XOFF_PARAM_AUTO && (curve->to / every - curve->from / every) * every < over)
        return fail_at(r, node, "from",
                       "no sample falls between from and to; give a longer part of the run, or a "
                       "shorter measure.every and over");
    return 0;
}

static int read_curve(struct fields_reader *r, const struct yaml_node *node,
                      const struct plan *plan, struct plan_curve *curve)
{
    int rc = fields_check_name(r, node, node->key, "-", sizeof curve->name);
    if (!rc)
        rc = fields_read(r, node, section_curve, curve, NULL);
    if (rc)
        return rc;
    memcpy(curve->name, node->key, strlen(node->key) + 1);
    const struct yaml_node *at = yaml_find(node, "at");
    curve->place = (struct plan_place){at->line, at->column};
    return check_curve(r, node, plan, curve);
}

int plan_read_curves(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    const struct yaml_node *node = yaml_find(root, "curves");
    if (!node)
        return 0;
    const size_t length = fields_enter(r, "curves");
    int rc =
        fields_want(r, node, YAML_MAPPING,
                    "a mapping from names to curves, such as {F0: {of: throughput, at: s0:2}}");
    if (!rc && node->n && !(plan->curves = calloc(node->n, sizeof *plan->curves)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *entry = node->first; entry && !rc; entry = entry->next) {
        const size_t inner = fields_enter(r, entry->key);
        rc = read_curve(r, entry, plan, &plan->curves[plan->n_curves++]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}
