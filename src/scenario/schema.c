/* The JSON schema (draft 2020-12) of scenario files, from the tables that the parser uses; and
 * what schemas of other files share (schema.h).
 *
 * Editors use it for completion and early warnings. The schema knows keys, words, the form of
 * quantities and the range of plain numbers. Checks that need arithmetic (the range of 2us,
 * combinations of keys) are left to `xoff check`, so the schema accepts a little more than the
 * parser and never less.
 */
#include "scenario/schema.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "scenario/sections.h"
#include "scenario/topology.h"

/* Takes ownership of `value`. Fails only without memory, which the caller sees as a missing key or
 * schema. */
static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *object_of(const char *type)
{
    json_t *object = json_object();
    put(object, "type", json_string(type));
    return object;
}

static json_t *pattern_of(const char *pattern)
{
    json_t *text = object_of("string");
    put(text, "pattern", json_string(pattern));
    return text;
}

static json_t *words_of(const char *const *words)
{
    json_t *list = json_array(), *object = json_object();
    for (; *words; words++)
        json_array_append_new(list, json_string(*words));
    put(object, "enum", list);
    return object;
}

/* Makes an anyOf of up to three schemas; NULL: none. */
static json_t *any_of(json_t *a, json_t *b, json_t *c)
{
    json_t *list = json_array(), *object = json_object();
    json_array_append_new(list, a);
    if (b)
        json_array_append_new(list, b);
    if (c)
        json_array_append_new(list, c);
    put(object, "anyOf", list);
    return object;
}

static json_t *zero(void)
{
    json_t *object = json_object();
    put(object, "const", json_integer(0));
    return object;
}

#define NUMBER "[0-9]+(\\.[0-9]+)?"

static json_t *number_of(const struct xoff_param *p, bool whole)
{
    json_t *number = object_of(whole ? "integer" : "number");
    const char *const limits[] = {p->min, p->max};
    static const char *const keys[] = {"minimum", "maximum"};
    for (int i = 0; i < 2; i++) {
        int64_t integer;
        double real;
        if (limits[i] && whole && xoff_parse_int(limits[i], &integer) == 0)
            put(number, keys[i], json_integer(integer));
        else if (limits[i] && !whole && xoff_parse_real(limits[i], &real) == 0)
            put(number, keys[i], json_real(real));
    }
    return number;
}

/* Text may be a word, a number that serves as one, or a list of them; `1ms: 1Gbps` in a list is a
 * mapping with one key. */
static json_t *text_value(void)
{
    static const char *const word_types[] = {"string", "number", NULL};
    json_t *types = json_array(), *item_types = json_array();
    for (int i = 0; word_types[i]; i++) {
        json_array_append_new(types, json_string(word_types[i]));
        json_array_append_new(item_types, json_string(word_types[i]));
    }
    json_array_append_new(types, json_string("array"));
    json_array_append_new(item_types, json_string("object"));
    json_t *object = json_object(), *items = json_object();
    put(object, "type", types);
    put(items, "type", item_types);
    put(object, "items", items);
    return object;
}

static json_t *value_of(const struct xoff_param *p)
{
    static const char *const truths[] = {"true", "false", "yes", "no", "on", "off", NULL};
    switch (p->type) {
    case XOFF_P_BOOL:
        return any_of(object_of("boolean"), words_of(truths), NULL);
    case XOFF_P_INT:
        return any_of(number_of(p, true), pattern_of("^" NUMBER " ?[kMG]?$"), NULL);
    case XOFF_P_REAL:
        return any_of(number_of(p, false),
                      pattern_of("^" NUMBER "([eE][-+]?[0-9]+)?( ?/ ?" NUMBER "| ?%)?$"), NULL);
    case XOFF_P_TIME:
        return any_of(zero(), pattern_of("^(0|" NUMBER " ?(ps|ns|us|ms|s))$"), NULL);
    case XOFF_P_RATE:
        return any_of(zero(), pattern_of("^(0|" NUMBER " ?[kMGT]?bps)$"), NULL);
    case XOFF_P_BYTES:
        return any_of(zero(), pattern_of("^(0|" NUMBER " ?([KMG]i?)?B)$"), NULL);
    case XOFF_P_CHOICE:
        return words_of(p->choices);
    case XOFF_P_TEXT:
        break;
    }
    return text_value();
}

static json_t *schema_of_param(const struct xoff_param *p)
{
    json_t *value = value_of(p);
    if (p->allows_auto) {
        json_t *automatic = json_object();
        put(automatic, "const", json_string("auto"));
        value = any_of(value, automatic, NULL);
    }
    char accepts[256];
    xoff_param_accepts(p, accepts, sizeof accepts);
    put(value, "description", json_sprintf("%s Accepts %s.", p->help ? p->help : "", accepts));
    if (p->preset)
        put(value, "default", json_string(p->preset));
    return value;
}

static void add_params(json_t *properties, json_t *required, const struct xoff_param *table)
{
    for (const struct xoff_param *p = table; p && p->name; p++) {
        put(properties, p->name, schema_of_param(p));
        if (!p->preset && required)
            json_array_append_new(required, json_string(p->name));
    }
}

json_t *schema_mapping(json_t *properties, json_t *required, const struct xoff_param *table)
{
    add_params(properties, required, table);
    json_t *mapping = object_of("object");
    put(mapping, "properties", properties);
    if (required && json_array_size(required))
        put(mapping, "required", required);
    else
        json_decref(required);
    put(mapping, "additionalProperties", json_false());
    return mapping;
}

static json_t *table_schema(const struct xoff_param *table, const char *about)
{
    json_t *mapping = schema_mapping(json_object(), json_array(), table);
    put(mapping, "description", json_string(about));
    return mapping;
}

static json_t *list_of(json_t *items)
{
    json_t *list = object_of("array");
    put(list, "items", items);
    return list;
}

static json_t *reference(const char *name)
{
    json_t *object = json_object();
    put(object, "$ref", json_sprintf("#/$defs/%s", name));
    return object;
}

static json_t *kind_property(const struct kind *kind)
{
    json_t *word = json_object();
    put(word, "const", json_string(kind->name));
    put(word, "description", json_string(kind->summary ? kind->summary : ""));
    return word;
}

/* A mechanism is a word, or a mapping with `kind` and its parameters; a transport has shared keys
 * as well. With a
 * default, `kind` is required for every other kind; without one (an entry of `switches` inherits
 * its kind), `kind` may always be left out. */
static json_t *mechanism_schema(enum kinds_role role, bool has_default)
{
    json_t *choices = json_array(), *words = json_array();
    struct kind kind;
    for (uint32_t i = 0; kinds_at(role, i, &kind); i++) {
        json_array_append_new(words, json_string(kind.name));
        json_t *properties = json_object(), *required = json_array();
        put(properties, "kind", kind_property(&kind));
        if (i && has_default)
            json_array_append_new(required, json_string("kind"));
        if (role == KINDS_TRANSPORT) {
            add_params(properties, NULL, section_transport);
            add_params(properties, NULL, kind.np_params);
            for (uint32_t k = 0; xoff_rels[k]; k++)
                if (xoff_rels[k]->params->name)
                    put(properties, xoff_rels[k]->name,
                        table_schema(xoff_rels[k]->params, xoff_rels[k]->summary));
        }
        json_t *mapping = schema_mapping(properties, required, kind.params);
        put(mapping, "title", json_string(kind.name));
        json_array_append_new(choices, mapping);
    }
    json_t *word = json_object(), *schema = json_object();
    put(word, "enum", words);
    json_array_insert_new(choices, 0, word);
    put(schema, "anyOf", choices);
    return schema;
}

static json_t *transports_schema(void)
{
    json_t *mapping = object_of("object");
    put(mapping, "additionalProperties", reference("transport"));
    put(mapping, "description", json_string("Further transports by name, for traffic to name."));
    return mapping;
}

static json_t *custom_link_schema(void)
{
    json_t *properties = json_object(), *required = json_array();
    json_t *ends = list_of(object_of("string"));
    put(ends, "minItems", json_integer(2));
    put(ends, "maxItems", json_integer(2));
    put(properties, "endpoints", ends);
    json_array_append_new(required, json_string("endpoints"));
    return schema_mapping(properties, required, section_link);
}

static json_t *custom_nodes_schema(void)
{
    const struct xoff_param *kind = xoff_param_find(section_node, "kind");
    json_t *by_name = object_of("object");
    put(by_name, "additionalProperties",
        any_of(words_of(kind->choices), schema_mapping(json_object(), json_array(), kind), NULL));
    return any_of(by_name, list_of(table_schema(section_node, "A node.")), NULL);
}

static json_t *topology_schema(void)
{
    json_t *choices = json_array(), *words = json_array();
    struct kind kind;
    for (uint32_t i = 0; kinds_at(KINDS_TOPOLOGY, i, &kind); i++) {
        const struct topology_kind *topology = kind.ops;
        json_array_append_new(words, json_string(kind.name));
        json_t *properties = json_object(), *required = json_array();
        put(properties, "kind", kind_property(&kind));
        if (i)
            json_array_append_new(required, json_string("kind"));
        put(properties, "host_link", reference("link"));
        if (topology->has_fabric_link)
            put(properties, "fabric_link", reference("link"));
        if (strcmp(kind.name, "custom") == 0) {
            put(properties, "nodes", custom_nodes_schema());
            put(properties, "links", list_of(custom_link_schema()));
        }
        json_t *mapping = schema_mapping(properties, required, kind.params);
        put(mapping, "title", json_string(kind.name));
        json_array_append_new(choices, mapping);
    }
    json_t *word = json_object(), *schema = json_object();
    put(word, "enum", words);
    json_array_insert_new(choices, 0, word);
    put(schema, "anyOf", choices);
    put(schema, "description", json_string("The network: nodes and links."));
    return schema;
}

static json_t *traffic_schema(void)
{
    json_t *choices = json_array();
    struct kind kind;
    for (uint32_t i = 0; kinds_at(KINDS_TRAFFIC, i, &kind); i++) {
        const struct traffic_kind *traffic = kind.ops;
        json_t *properties = json_object(), *required = json_array();
        put(properties, "kind", kind_property(&kind));
        json_array_append_new(required, json_string("kind"));
        put(properties, "name", pattern_of("^[A-Za-z0-9_#-]{1,31}$"));
        if (traffic->items_key)
            put(properties, traffic->items_key,
                list_of(table_schema(traffic->item_params, "An entry.")));
        json_t *mapping = schema_mapping(properties, required, kind.params);
        put(mapping, "title", json_string(kind.name));
        json_array_append_new(choices, mapping);
    }
    json_t *entry = json_object();
    put(entry, "anyOf", choices);
    return list_of(entry);
}

/* `switch`, or an entry of `switches`, which inherits from it. */
static json_t *switch_schema(bool is_entry)
{
    json_t *properties = json_object(), *required = json_array();
    if (is_entry)
        add_params(properties, required, section_match);
    for (const struct switch_role *role = switch_roles; role->key; role++)
        put(properties, role->key, mechanism_schema(role->role, !is_entry));
    json_t *mapping = schema_mapping(properties, required, section_switch);
    put(mapping, "description",
        json_string(is_entry ? "Switches that differ from the others." : "Every switch."));
    return mapping;
}

static json_t *priorities_schema(void)
{
    json_t *properties = json_object();
    for (int i = 0; i < XOFF_N_PRIORITIES; i++) {
        const char name[] = {(char)('0' + i), '\0'};
        put(properties, name, reference("priority"));
    }
    return schema_mapping(properties, NULL, NULL);
}

static json_t *variants_schema(void)
{
    json_t *properties = json_object(), *required = json_array();
    put(properties, "name", pattern_of("^[A-Za-z0-9_-]{1,31}$"));
    json_array_append_new(required, json_string("name"));
    json_t *set = object_of("object");
    put(set, "description", json_string("Values by dotted key, such as switch.mmu.alpha: 1/4."));
    put(properties, "set", set);
    return list_of(schema_mapping(properties, required, NULL));
}

static json_t *receivers_schema(void)
{
    json_t *properties = json_object();
    put(properties, "marking", mechanism_schema(KINDS_MARKING, true));
    put(properties, "vms", list_of(table_schema(section_vm, "A virtual machine.")));
    json_t *mapping = schema_mapping(properties, json_array(), section_receiver);
    put(mapping, "description", json_string("Hosts that take frames slower than they come."));
    return list_of(mapping);
}

static json_t *curves_schema(void)
{
    json_t *mapping = object_of("object");
    put(mapping, "additionalProperties",
        table_schema(section_curve, "A series of measure at one place."));
    put(mapping, "description", json_string("Curves by name: letters, digits, _ and -."));
    return mapping;
}

char *schema_text(json_t *schema, const char *title)
{
    put(schema, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
    put(schema, "title", json_string(title));
    char *text = json_dumps(schema, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(schema);
    return text;
}

char *scenario_schema(void)
{
    json_t *defs = json_object(), *properties = json_object(), *required = json_array();
    put(defs, "link", table_schema(section_link, "A link."));
    put(defs, "priority", table_schema(section_priority, "A priority."));
    put(properties, "topology", topology_schema());
    put(properties, "switch", switch_schema(false));
    put(properties, "switches", list_of(switch_schema(true)));
    put(properties, "priorities", priorities_schema());
    put(properties, "traffic", traffic_schema());
    put(properties, "receivers", receivers_schema());
    put(defs, "transport", mechanism_schema(KINDS_TRANSPORT, true));
    put(properties, "transport", reference("transport"));
    put(properties, "transports", transports_schema());
    for (const struct section *s = sections; s->path; s++) {
        const size_t length = strlen(s->path);
        const bool is_list = length > 2 && strcmp(s->path + length - 2, "[]") == 0;
        char key[32] = "";
        strncat(key, s->path, is_list ? length - 2 : length);
        if (!length || strchr(s->path, '.') || json_object_get(properties, key))
            continue;
        json_t *schema = table_schema(s->table, s->about);
        put(properties, key, is_list ? list_of(schema) : schema);
    }
    put(properties, "curves", curves_schema());
    put(properties, "variants", variants_schema());
    put(properties, "expect", list_of(object_of("string")));
    json_array_append_new(required, json_string("topology"));

    json_t *schema = schema_mapping(properties, required, section_top);
    put(schema, "$defs", defs);
    return schema_text(schema, "xoff scenario");
}
