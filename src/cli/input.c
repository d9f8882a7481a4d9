/* Reads the input of verbs: a scenario, or a config.txt of the ns-3 RDMA family, which is
 * converted. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

int cli_read(const struct cli_options *options, const char *file, struct cli_input *input,
             struct xoff_err *err)
{
    struct plan_setting settings[CLI_MAX_SETTINGS + 1];
    uint32_t n = options->n_settings;
    memcpy(settings, options->settings, sizeof *settings * n);
    *input = (struct cli_input){0};
    if (hpcc_recognise(file)) {
        const int code = hpcc_scenario(file, options->is_ns3, settings, n, &input->scenario,
                                       &input->import, err);
        if (!code)
            cli_print_warnings(input->import->warnings, input->import->n_warnings);
        return code;
    }
    if (options->is_ns3)
        settings[n++] = (struct plan_setting){"compat", "ns3"};
    const int code = options->text ? scenario_read_text(file, options->text, strlen(options->text),
                                                        settings, n, &input->scenario, err)
                                   : scenario_read(file, settings, n, &input->scenario, err);
    if (code == -XOFF_E_UNKNOWN && !strcmp(err->subject, "sweep"))
        xoff_err_set(err, XOFF_E_UNKNOWN, "sweep", NULL,
                     "this is a sweep, not a scenario; run it with xoff sweep");
    return code;
}

void cli_input_fini(struct cli_input *input)
{
    scenario_destroy(input->scenario);
    hpcc_destroy(input->import);
    for (uint32_t i = 0; i < input->n_warnings; i++)
        free(input->warnings[i]);
    free(input->warnings);
}

/* Users have not seen the scenario that was made of a config.txt: its line numbers mean nothing. */
static void hide_lines(const struct cli_input *input, struct xoff_err *err)
{
    if (input->import && !strcmp(err->file, input->scenario->file))
        err->line = err->column = 0;
}

void cli_print_build_error(const struct cli_input *input, struct xoff_err *err)
{
    hide_lines(input, err);
    cli_print_error(err);
}

/* Variants of a scenario often have the same warning. */
static void warn_once(struct cli_input *input, const struct xoff_err *warning)
{
    char *text = cli_warning_text(warning);
    uint32_t k = 0;
    while (k < input->n_warnings && strcmp(input->warnings[k], text))
        k++;
    if (k < input->n_warnings) {
        free(text);
        return;
    }
    input->warnings = realloc(input->warnings, sizeof *input->warnings * (k + 1));
    XOFF_ASSERT(input->warnings);
    input->warnings[input->n_warnings++] = text;
    cli_print_warning(warning);
}

void cli_print_build_warnings(struct cli_input *input, struct built *built)
{
    for (uint32_t i = 0; i < built->n_warnings; i++) {
        hide_lines(input, &built->warnings[i]);
        warn_once(input, &built->warnings[i]);
    }
    /* This says nothing of the results, which are those of one process. */
    if (cli_ranks() && built->spec.wire->is_one_sequence) {
        struct xoff_err warning = {0};
        xoff_err_set(&warning, XOFF_E_OK, "compat", "ns3",
                     "all events of the network are in one sequence, so the first rank runs all "
                     "nodes and the others have nothing to do");
        warn_once(input, &warning);
    }
}
