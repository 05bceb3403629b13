// getopt_long lives in <getopt.h>, which Swift's Glibc module leaves out, and it answers through
// global variables, which Swift 6 rightly refuses to read: here they become one value.
#pragma once

#include <getopt.h>

/// One step of reading an argument list: what getopt_long found.
struct getopt_step {
    int found;        ///< the option's `val`, 1 for a plain argument, '?' or ':' for an error, -1 at the end
    int unrecognised; ///< `optopt`: the option at fault, 0 where it has no number
    int next;         ///< `optind`: where reading goes on
    const char *argument;
};

/// Begins with a new argument list and keeps getopt_long from printing.
static inline void getopt_restart(void) {
    optind = 0;
    opterr = 0;
}

/// Reads the next option or plain argument.
static inline struct getopt_step getopt_next(
    int count, char *const *arguments, const char *letters, const struct option *names) {
    optarg = 0;
    optopt = 0;
    struct getopt_step step;
    step.found = getopt_long(count, arguments, letters, names, 0);
    step.unrecognised = optopt;
    step.next = optind;
    step.argument = optarg;
    return step;
}
