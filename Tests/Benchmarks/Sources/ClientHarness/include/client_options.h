#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/// What every client is told on its command line. The strings belong to `argv`.
struct client_options {
    const char *url;
    /// The authority of the loopback servers.
    const char *ca_file;
    /// The system's authorities and that one in a file; NULL if that one alone is trusted.
    const char *bundle_file;
    /// The file to send as each request's body, or NULL.
    const char *upload_file;
    size_t concurrency;
    size_t requests;
    size_t warmup;
    size_t body_length;
    size_t connections;
    /// Before how many pieces of a streamed body its reader sleeps.
    size_t slow_pieces;
    bool http2;
    /// Whether bodies are dropped piece by piece as they come.
    bool is_streamed;
    /// Whether memory and descriptors are compared over the requests instead of times.
    bool is_soak;
};

/// Reads the arguments. On a mistake it says what is wrong on standard error and returns false.
/// Only URLs of the loopback interface are accepted, so that load never leaves the machine.
bool client_options_parse(int argc, char *const *argv, struct client_options *options);

/// Lets the process open as many descriptors as the system allows it at most.
void client_raise_descriptor_limit(void);

#endif
