/* Lists of settings as text, "3 9000B, 4 500B" or "68B, 128B": entries between commas, words
 * between spaces. Not for use outside this folder. */
#ifndef XOFF_MECH_SCHED_LISTS_H
#define XOFF_MECH_SCHED_LISTS_H

#include <string.h>

#include <xoff/param.h>
#include <xoff/units.h>

#define LISTS_MAX_WORDS 2

struct lists_entry {
    char text[XOFF_PARAM_TEXT];                   /* the whole entry, for messages */
    char words[LISTS_MAX_WORDS][XOFF_PARAM_TEXT]; /* the first LISTS_MAX_WORDS of it */
    uint32_t n_words;                             /* all of them */
};

static inline const char *lists_begin(const char *text)
{
    return *text ? text : NULL;
}

/* Takes the entry up to the next comma off *rest, which becomes NULL at the end of the text. A
 * comma at the end of the text is followed by an entry without words. */
static inline bool lists_next(const char **rest, struct lists_entry *entry)
{
    const char *at = *rest;
    if (!at)
        return false;
    memset(entry, 0, sizeof *entry);
    size_t length = 0, word_length = 0;
    for (; *at && *at != ','; at++) {
        if (*at == ' ') {
            word_length = 0;
        } else {
            entry->n_words += word_length == 0;
            if (entry->n_words <= LISTS_MAX_WORDS)
                entry->words[entry->n_words - 1][word_length] = *at;
            word_length++;
        }
        if (length || *at != ' ')
            entry->text[length++] = *at;
    }
    while (length && entry->text[length - 1] == ' ')
        entry->text[--length] = '\0';
    *rest = *at ? at + 1 : NULL;
    return true;
}

#endif
