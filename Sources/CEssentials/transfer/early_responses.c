// Responses that are over before their requests are.
//
// libcurl can miss that such a response is over: before 8.5 while the source of the request's body has nothing to give,
// and over HTTP/2 when it is the end of the request that closes the stream. It would then wait for what never comes. So
// whenever it has worked on a response beside a request body, it is asked to look once more. Over HTTP/2 the very look can
// be what sends the last bytes; so it is asked again after a while too, and after twice that while, up to a second.

#include "../state/touched.h"
#include "codings.h"
#include "pauses.h"

enum {
    REPORTS_IN_RUN = 2, // libcurl reports progress this often each time that it works on a transfer
    FIRST_WAIT_MS = 4,
    LONGEST_WAIT_MS = 1024,
};

static void leave(ce_transfer *transfer) {
    if (!transfer->look_link) return;
    *transfer->look_link = transfer->next_look;
    if (transfer->next_look) transfer->next_look->look_link = transfer->look_link;
    transfer->look_link = NULL;
    transfer->next_look = NULL;
}

static void wait_until(ce_loop *loop, int64_t moment) {
    if (loop->look_ms == 0 || moment < loop->look_ms) loop->look_ms = moment;
}

static void enter(ce_transfer *transfer) {
    if (transfer->look_link || !transfer->multi) return;
    ce_loop *loop = transfer->multi->loop;
    transfer->look_wait_ms = FIRST_WAIT_MS;
    transfer->look_ms = loop->now_ms + FIRST_WAIT_MS;
    wait_until(loop, transfer->look_ms);
    transfer->next_look = loop->looks;
    if (loop->looks) loop->looks->look_link = &transfer->next_look;
    transfer->look_link = &loop->looks;
    loop->looks = transfer;
}

void ce_early_response_reset(ce_transfer *transfer) {
    leave(transfer);
    transfer->asks_again = false;
    transfer->reports_to_skip = 0;
    transfer->looked_at_sent = 0;
}

void ce_early_response_skip_reports(ce_transfer *transfer) { transfer->reports_to_skip = REPORTS_IN_RUN; }

int ce_on_progress(void *user, curl_off_t expected, curl_off_t received, curl_off_t to_send, curl_off_t sent) {
    (void)expected, (void)to_send;
    ce_transfer *transfer = user;
    if (ce_codings_are_stuck(transfer, received)) {
        ce_transfer_refuse(transfer, CE_REFUSED_DECODER);
        return 1;
    }
    if (!transfer->has_request_body) return 0;
    if (!transfer->head_done || !(transfer->send_paused || transfer->speaks_http2)) return 0;
    if (transfer->speaks_http2) enter(transfer);
    // Where all of the request was given to libcurl before the answer came, its end is on its way or blocked by the socket:
    // looking after a while is enough, and a long answer is not looked at with each of its pieces.
    if (!transfer->send_paused && !transfer->was_answered_early) return 0;
    // The work that was asked for is no reason to ask again, unless it went on.
    bool is_answer = transfer->reports_to_skip > 0;
    if (is_answer) transfer->reports_to_skip--;
    if (is_answer && sent == transfer->looked_at_sent) return 0;
    transfer->looked_at_sent = sent;
    transfer->asks_again = true;
    ce_transfer_touch(transfer);
    return 0;
}

int ce_transfer_ask_again(ce_transfer *transfer) {
    if (!transfer->asks_again) return 0;
    transfer->asks_again = false;
    ce_early_response_skip_reports(transfer);
    if (transfer->send_paused) {
        transfer->send_paused = false;
        return ce_transfer_apply_pauses(transfer);
    }
    // What is paused looks when it goes on; what goes on looks because it was paused.
    if (transfer->receive_paused) return 0;
    int code = (int)curl_easy_pause(transfer->easy, CURLPAUSE_RECV);
    return code ? code : ce_transfer_apply_pauses(transfer);
}

void ce_early_response_check_overdue(ce_loop *loop) {
    if (loop->look_ms == 0 || loop->look_ms > loop->now_ms) return;
    loop->look_ms = 0;
    for (ce_transfer *transfer = loop->looks; transfer; transfer = transfer->next_look) {
        if (transfer->look_ms <= loop->now_ms) {
            if (transfer->look_wait_ms < LONGEST_WAIT_MS) transfer->look_wait_ms *= 2;
            transfer->look_ms = loop->now_ms + transfer->look_wait_ms;
            transfer->asks_again = true;
            ce_transfer_touch(transfer);
        }
        wait_until(loop, transfer->look_ms);
    }
}
