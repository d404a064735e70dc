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
    if (!transfer->places.look_link) return;
    *transfer->places.look_link = transfer->places.next_look;
    if (transfer->places.next_look) transfer->places.next_look->places.look_link = transfer->places.look_link;
    transfer->places.look_link = NULL;
    transfer->places.next_look = NULL;
}

static void wait_until(ce_loop *loop, int64_t moment) {
    if (loop->look_ms == 0 || moment < loop->look_ms) loop->look_ms = moment;
}

static void enter(ce_transfer *transfer) {
    if (transfer->places.look_link || !transfer->handle.multi) return;
    ce_loop *loop = transfer->handle.multi->loop;
    transfer->places.look_wait_ms = FIRST_WAIT_MS;
    transfer->places.look_ms = loop->now_ms + FIRST_WAIT_MS;
    wait_until(loop, transfer->places.look_ms);
    transfer->places.next_look = loop->looks;
    if (loop->looks) loop->looks->places.look_link = &transfer->places.next_look;
    transfer->places.look_link = &loop->looks;
    loop->looks = transfer;
}

void ce_early_response_reset(ce_transfer *transfer) {
    leave(transfer);
    transfer->run.early = (ce_run_early){0};
}

void ce_early_response_skip_reports(ce_transfer *transfer) { transfer->run.early.reports_to_skip = REPORTS_IN_RUN; }

int ce_on_progress(void *user, curl_off_t expected, curl_off_t received, curl_off_t to_send, curl_off_t sent) {
    (void)expected, (void)to_send;
    ce_transfer *transfer = user;
    if (ce_codings_are_stuck(transfer, received)) {
        ce_transfer_refuse(transfer, CE_REFUSED_DECODER);
        return 1;
    }
    if (!transfer->run.request.has_body) return 0;
    if (!transfer->run.receive.head_done || !(transfer->run.send.is_paused || transfer->run.gates.speaks_http2)) return 0;
    if (transfer->run.gates.speaks_http2) enter(transfer);
    // Where all of the request was given to libcurl before the answer came, its end is on its way or blocked by the socket:
    // looking after a while is enough, and a long answer is not looked at with each of its pieces.
    if (!transfer->run.send.is_paused && !transfer->run.send.was_answered_early) return 0;
    // The work that was asked for is no reason to ask again, unless it went on.
    bool is_answer = transfer->run.early.reports_to_skip > 0;
    if (is_answer) transfer->run.early.reports_to_skip--;
    if (is_answer && sent == transfer->run.early.looked_at_sent) return 0;
    transfer->run.early.looked_at_sent = sent;
    transfer->run.early.asks_again = true;
    ce_transfer_touch(transfer);
    return 0;
}

int ce_transfer_ask_again(ce_transfer *transfer) {
    if (!transfer->run.early.asks_again) return 0;
    transfer->run.early.asks_again = false;
    ce_early_response_skip_reports(transfer);
    if (transfer->run.send.is_paused) {
        transfer->run.send.is_paused = false;
        return ce_transfer_apply_pauses(transfer);
    }
    // What is paused looks when it goes on; what goes on looks because it was paused.
    if (transfer->run.receive.is_paused) return 0;
    int code = (int)curl_easy_pause(transfer->handle.easy, CURLPAUSE_RECV);
    return code ? code : ce_transfer_apply_pauses(transfer);
}

void ce_early_response_check_overdue(ce_loop *loop) {
    if (loop->look_ms == 0 || loop->look_ms > loop->now_ms) return;
    loop->look_ms = 0;
    for (ce_transfer *transfer = loop->looks; transfer; transfer = transfer->places.next_look) {
        if (transfer->places.look_ms <= loop->now_ms) {
            if (transfer->places.look_wait_ms < LONGEST_WAIT_MS) transfer->places.look_wait_ms *= 2;
            transfer->places.look_ms = loop->now_ms + transfer->places.look_wait_ms;
            transfer->run.early.asks_again = true;
            ce_transfer_touch(transfer);
        }
        wait_until(loop, transfer->places.look_ms);
    }
}
