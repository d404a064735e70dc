// libcurl's multi handles.
#include "../base/clock.h"
#include "../sockets/sockets.h"
#include "../state/transfer_state.h"
#include "../transfer/early_responses.h"
#include "../transfer/endings.h"
#include "../trust/trust.h"
#include "close_on_exec.h"

#include <stdlib.h>

static struct ce_share *make_share(void) {
    struct ce_share *share = calloc(1, sizeof *share);
    if (!share) return NULL;
    share->references = 1;
    share->curl = curl_share_init();
    if (share->curl && curl_share_setopt(share->curl, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK) {
        return share;
    }
    if (share->curl) curl_share_cleanup(share->curl);
    free(share);
    return NULL;
}

static void release_share(struct ce_share *share) {
    if (!share || --share->references > 0) return;
    curl_share_cleanup(share->curl);
    free(share);
}

static int on_timer(CURLM *curl, long timeout_ms, void *user) {
    (void)curl;
    ce_multi *multi = user;
    multi->timer_ms = timeout_ms < 0 ? -1 : ce_now_ms() + timeout_ms;
    return 0;
}

static bool configure_multi(ce_multi *multi) {
    const ce_settings *settings = &multi->loop->settings;
    CURLM *curl = multi->curl;
    return curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, ce_on_socket) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_MAX_CONCURRENT_STREAMS, settings->streams_per_connection) == CURLM_OK;
}

ce_multi *ce_multi_create(ce_loop *loop, ce_trust *trust, ce_trust *proxy_trust, ce_multi *sibling) {
    ce_multi *multi = calloc(1, sizeof *multi);
    if (!multi) return NULL;
    multi->loop = loop;
    multi->timer_ms = -1;
    multi->curl = ce_curl_multi_create();
    if (sibling) sibling->share->references++;
    multi->share = sibling ? sibling->share : make_share();
    if (!multi->curl || !multi->share || !configure_multi(multi)) {
        if (multi->curl) curl_multi_cleanup(multi->curl);
        release_share(multi->share);
        free(multi);
        return NULL;
    }
    ce_trust_retain(trust);
    multi->trust = trust;
    if (proxy_trust) ce_trust_retain(proxy_trust);
    multi->proxy_trust = proxy_trust;
    multi->next = loop->multis;
    loop->multis = multi;
    return multi;
}

void ce_multi_destroy(ce_multi *multi) {
    if (!multi) return;
    for (ce_multi **link = &multi->loop->multis; *link; link = &(*link)->next) {
        if (*link == multi) {
            *link = multi->next;
            break;
        }
    }
    curl_multi_cleanup(multi->curl); // closes pooled connections, which still use the share
    release_share(multi->share);
    ce_trust_release(multi->trust);
    ce_trust_release(multi->proxy_trust);
    free(multi);
}

ce_transfer *ce_multi_next_done(ce_multi *multi, int *curl_code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi->curl, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        // The removal frees the message, so it is copied first.
        CURL *easy = message->easy_handle;
        *curl_code = (int)message->data.result;
        ce_transfer *transfer = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
        curl_multi_remove_handle(multi->curl, easy);
        if (!transfer) continue;
        transfer->handle.running = false;
        ce_early_response_reset(transfer);
        bool was_success = *curl_code == CURLE_OK;
        ce_endings_judge(transfer, curl_code);
        transfer->run.ended_well = was_success && transfer->run.gates.request_gate_count == 1;
        return transfer;
    }
    return NULL;
}
