#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/// What every client is told on its command line. The strings belong to `argv`.
struct client_options {
    const char *url;
    const char *ca_file;
    size_t concurrency;
    size_t requests;
    size_t warmup;
    size_t body_length;
    size_t connections;
    bool http2;
};

/// Reads the arguments. On a mistake it says what is wrong on standard error and returns false.
/// Only URLs of the loopback interface are accepted, so that load never leaves the machine.
bool client_options_parse(int argc, char *const *argv, struct client_options *options);

#endif
