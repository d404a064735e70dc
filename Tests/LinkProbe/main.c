// Shows that a connection which libcurl opens and we use (CURLOPT_CONNECT_ONLY) can carry a protocol of ours: trust before the
// first byte, backpressure both ways, long lives and orderly ends. `run` starts the servers.

#include "link.h"
#include "proofs.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool report(const char *what, bool holds, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("%s %s: ", holds ? "  ok    " : "  FAILED", what);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    return holds;
}

int main(int count, char **words) {
    if (count != 9) {
        fprintf(stderr, "usage: link-probe ECHO-PORT TLS-PORT PLAIN-PORT SOCKET PID ANCHORS OTHER-ANCHORS PIN\n");
        return 2;
    }
    probe_servers servers = {
        .echo_port = atoi(words[1]), .tls_port = atoi(words[2]), .plain_port = atoi(words[3]), .unix_path = words[4],
        .server = atoi(words[5]), .anchors = words[6], .other_anchors = words[7], .pin = words[8]};
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    printf("%s\n", curl_version());
    bool holds = true;
    holds &= prove_trust(&servers);
    holds &= prove_writing(&servers);
    holds &= prove_aging(&servers);
    holds &= prove_reading(&servers);
    holds &= prove_closing(&servers);
    holds &= prove_ping_pong(&servers);
    curl_global_cleanup();
    return holds ? 0 : 1;
}
