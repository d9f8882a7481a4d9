/* libFuzzer target for the scenario parser: whatever it refuses has a code, a subject and a place,
 * and whatever it accepts prints as a scenario that it accepts again and prints the same. */
#include "scenario/plan.h"
#include "target.h"

static void check_print(const struct plan *plan)
{
    struct scenario *again;
    struct xoff_err err;
    char *first = plan_print(plan);
    require(first != NULL);
    require(scenario_read_text("again", first, strlen(first), NULL, 0, &again, &err) == 0);
    require(again->n_plans == 1);
    char *second = plan_print(again->plans[0]);
    require(second != NULL && strcmp(first, second) == 0);
    free(first);
    free(second);
    scenario_destroy(again);
}

/* A first line "#set KEY=VALUE" is also applied as an option. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char option[256] = "";
    struct plan_setting setting = {0};
    if (size > 5 && memcmp(data, "#set ", 5) == 0) {
        const size_t left = size - 5;
        const size_t n = left < sizeof option - 1 ? left : sizeof option - 1;
        memcpy(option, data + 5, n);
        option[strcspn(option, "\n")] = '\0';
        char *equals = strchr(option, '=');
        if (equals) {
            *equals = '\0';
            setting = (struct plan_setting){option, equals + 1};
        }
    }
    struct scenario *scenario;
    struct xoff_err err;
    const int rc = scenario_read_text("fuzz", (const char *)data, size, &setting,
                                      setting.key ? 1 : 0, &scenario, &err);
    if (rc) {
        require(scenario == NULL && rc == -(int)err.code && err.subject[0] && err.message[0]);
        require(strncmp(err.subject, "--set ", 6) == 0 || (err.line > 0 && err.column > 0));
        return 0;
    }
    require(scenario->n_plans > 0);
    check_print(scenario->plans[scenario->n_plans - 1]);
    scenario_destroy(scenario);
    return 0;
}
