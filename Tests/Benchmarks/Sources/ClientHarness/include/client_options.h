#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/// The command line of a client. The strings belong to `argv`.
struct client_options {
    const char *url;
    /// The file of the loopback servers' authority.
    const char *ca_file;
    /// The file of the system's authorities together with that one; NULL if only that one is trusted.
    const char *bundle_file;
    /// The file that is sent as the body of each request, or NULL.
    const char *upload_file;
    size_t concurrency;
    size_t requests;
    size_t warmup;
    size_t body_length;
    size_t connections;
    /// The number of pieces of a streamed body before which its reader sleeps.
    size_t slow_pieces;
    bool http2;
    /// Whether bodies are discarded piece by piece as they arrive.
    bool is_streamed;
    /// Whether memory and descriptors are compared over the requests instead of times.
    bool is_soak;
};

/// Parses the arguments. Prints an error on standard error and returns false if they are not valid. Only URLs of the
/// loopback interface are accepted, so that the load never leaves the machine.
bool client_options_parse(int argc, char *const *argv, struct client_options *options);

/// Raises the process's limit of descriptors to the maximum that the system allows.
void client_raise_descriptor_limit(void);

#endif
