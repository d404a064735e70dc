#include "loop_state.h"

// libcurl's limit counts all connections. It is checked whenever a connection becomes idle, and the oldest idle one is
// closed.
void ce_multi_set_running(ce_multi *multi, int running) {
    multi->running = running;
    long others = running > 1 ? running - 1 : 0;
    long most = multi->loop->settings.connection_cache + others;
    if (most < 1) most = 1; // libcurl reads 0 as a default of its own
    if (most == multi->most_connections) return;
    multi->most_connections = most;
    curl_multi_setopt(multi->curl, CURLMOPT_MAXCONNECTS, most);
}

void ce_multi_act(ce_multi *multi, curl_socket_t socket, int flags) {
    int running = multi->running;
    curl_multi_socket_action(multi->curl, socket, flags, &running);
    ce_multi_set_running(multi, running);
}
