/* The JSON schema of sweep files, for `xoff schema --sweep`. As that of scenarios it accepts a
 * little more than the parser and never less: values are checked against the scenario by `xoff
 * sweep`. */
#include "many/json_parts.h"
#include "scenario/schema.h"
#include "sweep/axes.h"

static json_t *value(void)
{
    return json_pack("{s: [s, s, s]}", "type", "string", "number", "boolean");
}

/* Names in a list of up to `most` (0: any number); one may stand alone. */
static json_t *names(const char *about, int most)
{
    json_t *list = json_pack("{s: s, s: i, s: b, s: o}", "type", "array", "minItems", 1,
                             "uniqueItems", true, "items", value());
    if (most)
        put(list, "maxItems", json_integer(most));
    return json_pack("{s: [o, o], s: s}", "anyOf", value(), list, "description", about);
}

/* Keys of the scenario with what they take. Seeds are chosen by `seeds`. */
static json_t *keys(json_t *taken, int least, const char *about)
{
    return json_pack("{s: s, s: {s: b}, s: o, s: i, s: s}", "type", "object", "properties", "seed",
                     false, "additionalProperties", taken, "minProperties", least, "description",
                     about);
}

static json_t *axis(void)
{
    json_t *range = schema_mapping(json_object(), json_array(), axes_range);
    /* Without steps a range has a step, or points of a Latin hypercube. */
    json_object_del(json_object_get(json_object_get(range, "properties"), "steps"), "default");
    return json_pack("{s: [{s: s, s: i, s: i, s: b, s: o}, o]}", "anyOf", "type", "array",
                     "minItems", 1, "maxItems", SWEEP_MAX_VALUES, "uniqueItems", true, "items",
                     value(), range);
}

static json_t *page(void)
{
    json_t *goals = json_pack("{s: o, s: o}", "min", names("Less of these is better.", 0), "max",
                              names("More of these is better.", 0));
    json_t *properties =
        json_pack("{s: o, s: o, s: o, s: o}", "x", names("The key of the curves' axis.", 1),
                  "series", names("The key that has a curve for each value.", 1), "heat",
                  names("Two keys of vary, for the heat maps.", 2), "pareto",
                  schema_mapping(goals, NULL, NULL));
    return schema_mapping(properties, NULL, NULL);
}

char *sweep_schema(void)
{
    json_t *properties =
        json_pack("{s: o, s: o, s: o, s: o, s: o}", "set",
                  keys(value(), 0, "The same at all points, by dotted key."), "vary",
                  keys(axis(), 1, "Values by dotted key, such as switch.buffer: [1MB, 2MB]."),
                  "variants", names("Which of the scenario's variants; all by default.", 0),
                  "metrics", names("What is shown.", 0), "page", page());
    json_t *schema = schema_mapping(properties, json_pack("[s]", "vary"), sweep_params);
    return schema_text(schema, "xoff sweep");
}
