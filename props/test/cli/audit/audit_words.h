/*
 * audit_words.h -- tests of test_audit_recording.c: which figures
 * `profsim audit` prints for which words.
 */
#ifndef PROPS_AUDIT_WORDS_H
#define PROPS_AUDIT_WORDS_H

enum { WORDS_MAX = 12, WORD_BYTES = 96, SECONDS = 60 };

/* A command line. */
struct audit_line {
    char words[WORDS_MAX][WORD_BYTES];
    char *argv[WORDS_MAX + 1];
    int count;
};

void audit_add(struct audit_line *line, const char *word);

/* Run the command: it must print this text, or what matches it, and end with
 * this code. */
void audit_expect(struct audit_line *line, int exit_code, const char *wanted);

/* in: path, a file that may be written */
void audit_of_random_words(const char *path);
void audit_of_wrong_words(const char *path);
void audit_that_judges(const char *path);

#endif
