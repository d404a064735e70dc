// The proofs. Each prints what it saw, and returns whether it holds.

#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    // A server that writes to a file what it has received: `openssl s_server`.
    int echo_port;
    // A Redis server: with TLS, plain, on a Unix socket, and its process.
    int tls_port, plain_port;
    const char *unix_path;
    pid_t server;
    // The anchors of both servers, those of another authority, and the pin of both servers' key.
    const char *anchors, *other_anchors, *pin;
} probe_servers;

bool prove_trust(const probe_servers *servers);
bool prove_writing(const probe_servers *servers);
bool prove_aging(const probe_servers *servers);
bool prove_reading(const probe_servers *servers);
bool prove_closing(const probe_servers *servers);
bool prove_ping_pong(const probe_servers *servers);

// Prints a line of the report.
bool report(const char *what, bool holds, const char *format, ...);
