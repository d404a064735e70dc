// A server for the workloads that nginx does not support: it responds late, or accepts large bodies and discards them.
//
//     bench-server [--delay-ms N] [--first N]
//
// Every request is answered `delay-ms` after its arrival, with 13 bytes. The first `first` requests are
// answered together without delay when all of them have arrived, so that a client opens this many connections
// before the measurement. Prints `port=N` and `ready`, and runs until its standard input is closed. One thread,
// HTTP/1.1, no pipelining.

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_options.h"
#include "server.h"

static bool parse_number(const char *text, unsigned long largest, unsigned long *number) {
    char *end = NULL;
    errno = 0;
    *number = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *text != '-' && *number <= largest;
}

int main(int argc, char **argv) {
    unsigned long delay = 0, first = 0;
    for (int index = 1; index < argc; index += 2) {
        bool is_delay = strcmp(argv[index], "--delay-ms") == 0;
        bool is_known = is_delay || strcmp(argv[index], "--first") == 0;
        if (!is_known || index + 1 == argc || !parse_number(argv[index + 1], 1000000, is_delay ? &delay : &first)) {
            fputs("usage: bench-server [--delay-ms N] [--first N]\n", stderr);
            return 2;
        }
    }
    client_raise_descriptor_limit();
    struct server server;
    server_open(&server, delay * 1000000u, first);
    printf("port=%d\nready\n", server.port);
    fflush(stdout);
    server_run(&server);
    return 0;
}
