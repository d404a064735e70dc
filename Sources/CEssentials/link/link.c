// A link is a transfer that only connects. libcurl resolves the name, connects, and passes both trust gates; from then on
// the socket is watched by this file, and libcurl is only asked to move bytes.
//
// Each link has its own multi handle. libcurl counts such a connection as idle after its connect, and the next handle of
// the same multi may close it because of its age. The transfer stays in the multi as long as the link lives, because
// libcurl refuses to move bytes for a handle outside of one, and it is never used again.
#include "../state/ready_links.h"

#include "../sockets/sockets.h"
#include "../state/transfer_state.h"
#include "../transfer/endings.h"
#include "../trust/trust.h"

#include <limits.h>
#include <stdlib.h>

// MARK: Life

static const char *set_options(CURL *easy, bool is_proxied, int *curl_code) {
    struct {
        CURLoption option;
        long value;
        const char *name;
    } const options[] = {
        {CURLOPT_CONNECT_ONLY, 1, "CURLOPT_CONNECT_ONLY"},
        // Such a connection may not be closed after the connect, and has no age: 0 would be the strictest one.
        {CURLOPT_FORBID_REUSE, 0, "CURLOPT_FORBID_REUSE"},
        {CURLOPT_FRESH_CONNECT, 1, "CURLOPT_FRESH_CONNECT"},
        {CURLOPT_MAXAGE_CONN, LONG_MAX / 1000, "CURLOPT_MAXAGE_CONN"},
        {CURLOPT_MAXLIFETIME_CONN, LONG_MAX / 1000, "CURLOPT_MAXLIFETIME_CONN"},
        {CURLOPT_SSL_ENABLE_ALPN, 0, "CURLOPT_SSL_ENABLE_ALPN"},
        // A proxy cannot forward a protocol that it does not know.
        {CURLOPT_HTTPPROXYTUNNEL, is_proxied, "CURLOPT_HTTPPROXYTUNNEL"},
        {CURLOPT_TCP_NODELAY, 1, "CURLOPT_TCP_NODELAY"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        CURLcode code = curl_easy_setopt(easy, options[i].option, options[i].value);
        if (code == CURLE_OK) continue;
        *curl_code = (int)code;
        return options[i].name;
    }
    return NULL;
}

ce_link *ce_link_create(ce_loop *loop, ce_trust *trust, ce_trust *proxy_trust) {
    ce_link *link = calloc(1, sizeof *link);
    if (!link) return NULL;
    link->loop = loop;
    link->fd = -1;
    link->multi = ce_multi_create(loop, trust, proxy_trust, NULL);
    link->transfer = ce_transfer_create();
    if (link->multi && link->transfer) return link;
    ce_link_destroy(link);
    return NULL;
}

const char *ce_link_open(ce_link *link, const ce_request *request, int *curl_code, int *multi_code) {
    ce_transfer *transfer = link->transfer;
    const char *refused = ce_transfer_prepare(transfer, link->multi, request, curl_code);
    if (!refused) refused = set_options(transfer->handle.easy, request->proxy != NULL, curl_code);
    if (refused) return refused;
    transfer->run.request.is_link = true;
    *multi_code = ce_transfer_start(transfer);
    return NULL;
}

void ce_link_destroy(ce_link *link) {
    if (!link) return;
    ce_link_leave_ready(link);
    // The socket is given back before the removal of the handle closes it.
    if (link->fd >= 0) ce_socket_unwatch_link(link->loop, link->fd);
    if (link->transfer) {
        ce_transfer_abort(link->transfer);
        ce_transfer_destroy(link->transfer);
    }
    ce_multi_destroy(link->multi);
    free(link);
}

void ce_link_set_owner(ce_link *link, void *owner) { link->owner = owner; }
void *ce_link_owner(const ce_link *link) { return link->owner; }
ce_transfer *ce_link_transfer(const ce_link *link) { return link->transfer; }

// MARK: Opening

bool ce_link_has_ended_opening(ce_link *link, int *curl_code) {
    if (link->fd >= 0) return false;
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(link->multi->curl, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        curl_socket_t fd = CURL_SOCKET_BAD;
        if (code == CURLE_OK) code = curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
        if (code == CURLE_OK && fd == CURL_SOCKET_BAD) code = CURLE_COULDNT_CONNECT;
        // A connection that no gate has judged is not handed over.
        if (code == CURLE_OK && link->transfer->run.gates.request_gate_count != 1) code = CURLE_SSL_CERTPROBLEM;
        if (code == CURLE_OK) {
            link->fd = fd;
            // libcurl may have found that the peer was gone already. It does not replace its first text.
            link->transfer->run.error_text[0] = '\0';
        }
        *curl_code = (int)code;
        if (code != CURLE_OK) ce_endings_judge(link->transfer, curl_code);
        return true;
    }
    return false;
}

// MARK: Bytes

bool ce_link_watch(ce_link *link, bool reads, bool writes) {
    return ce_socket_watch_link(link->loop, link->fd, link, reads, writes);
}

// A server that demands a certificate of the client may refuse it after the client's side of the handshake has ended. Its
// alert is then the first thing that is received.
static ce_link_result end_of(ce_link *link, ce_link_result result, int curl_code) {
    if (result != CE_LINK_ENDED && result != CE_LINK_FAILED) return result;
    int code = curl_code == CURLE_OK ? CURLE_GOT_NOTHING : curl_code;
    if (!link->has_received) ce_endings_judge(link->transfer, &code);
    return result;
}

static ce_link_result result_of(CURLcode code, int *curl_code) {
    *curl_code = (int)code;
    return code == CURLE_OK ? CE_LINK_MOVED : code == CURLE_AGAIN ? CE_LINK_BLOCKED : CE_LINK_FAILED;
}

ce_link_result ce_link_receive(ce_link *link, void *buffer, size_t room, size_t *count, int *curl_code) {
    *count = 0;
    ce_link_result result = result_of(curl_easy_recv(link->transfer->handle.easy, buffer, room, count), curl_code);
    if (result == CE_LINK_MOVED && *count == 0) result = CE_LINK_ENDED;
    if (result == CE_LINK_MOVED) link->has_received = true;
    return end_of(link, result, *curl_code);
}

ce_link_result ce_link_send(ce_link *link, const void *bytes, size_t size, size_t *count, int *curl_code) {
    *count = 0;
    return result_of(curl_easy_send(link->transfer->handle.easy, bytes, size, count), curl_code);
}
