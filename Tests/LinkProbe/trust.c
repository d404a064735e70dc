// (a) A wrong pin, name or anchor: no byte of ours is sent, and both gates are counted.

#include "link.h"
#include "proofs.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name, *host, *anchors, *pin;
    bool opens_first_gate, is_allowed;
    int first_asked, second_asked;
} trust_case;

static bool prove(const trust_case *expected, int port) {
    link_state link;
    link_open(&link, (link_options){
        .host = expected->host, .port = port, .anchors = expected->anchors, .pin = expected->pin,
        .opens_first_gate = expected->opens_first_gate});
    bool is_open = link.result == CURLE_OK;
    // What a caller would do. Only a link that is open gets the bytes.
    if (is_open) is_open = link_send(&link, "ours\n", 5, 1);
    size_t sent = 0;
    if (!is_open && curl_easy_send(link.easy, "leak\n", 5, &sent) == CURLE_OK) is_open = true;
    bool holds = is_open == expected->is_allowed && link.first_asked == expected->first_asked
        && link.second_asked == expected->second_asked;
    report(expected->name, holds, "%s; first gate asked %d, refused %d; second asked %d, refused %d",
        curl_easy_strerror(link.result), link.first_asked, link.first_refused, link.second_asked, link.second_refused);
    if (is_open) link_wait(&link, false, 200);
    link_close(&link);
    return holds;
}

bool prove_trust(const probe_servers *servers) {
    const char *anchors = servers->anchors, *pin = servers->pin;
    char wrong[100];
    snprintf(wrong, sizeof wrong, "%s", pin);
    wrong[0] = wrong[0] == '0' ? '1' : '0';
    const trust_case cases[] = {
        {"wrong pin", "redis.test", anchors, wrong, false, false, 1, 0},
        {"wrong name", "other.test", anchors, pin, false, false, 1, 0},
        {"wrong anchor", "redis.test", servers->other_anchors, pin, false, false, 1, 0},
        {"first gate left open", "redis.test", servers->other_anchors, wrong, true, false, 1, 1},
        {"right", "redis.test", anchors, pin, false, true, 1, 1},
    };
    bool holds = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        holds &= prove(&cases[i], servers->echo_port);
        if (!cases[i].is_allowed) holds &= prove(&cases[i], servers->tls_port);
    }
    return holds;
}
