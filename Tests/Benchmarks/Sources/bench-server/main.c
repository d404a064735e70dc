// A server for the workloads that nginx is no match for: it answers late, or takes large bodies and drops them.
//
//     bench-server [--delay-ms N] [--first N]
//
// Every request is answered `delay-ms` after it came, with 13 bytes. The first `first` requests are answered together
// when all of them have come, and at once: so a client opens that many connections before anything is measured.
// Prints `port=N` and `ready`, and stays until its standard input ends. One thread, HTTP/1.1, no pipelining.

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
