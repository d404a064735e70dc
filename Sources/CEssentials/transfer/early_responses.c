// Detects that a response has ended before its request.
//
// libcurl can miss that: before 8.5 while the source of the request body has no bytes, and over HTTP/2 if the end of
// the request closes the stream. It would then wait forever. Therefore libcurl is made to run once more whenever it has
// worked on a response whose request body is not finished. Over HTTP/2 that additional run may itself send the last
// bytes. So it is repeated after FIRST_WAIT_MS, and then after twice the previous wait, up to LONGEST_WAIT_MS.
//
// Before 8.1, libcurl also stops reading when the announced length of a response is complete. Over HTTP/2 it then sees neither
// the reset of the stream nor a larger window. Such a transfer is over if its stream was reset, or if nothing was sent
// for STALL_MS.
#include "early_responses.h"

#include "../state/touched.h"
#include "codings.h"
#include "endings.h"
#include "pauses.h"

enum {
    REPORTS_IN_RUN = 2, // how often libcurl reports progress each time it works on a transfer
    FIRST_WAIT_MS = 4,
    LONGEST_WAIT_MS = 1024,
    STALL_MS = 512,
};

static void leave(ce_transfer *transfer) {
    ce_places *places = &transfer->places;
    if (!places->watched_link) return;
    *places->watched_link = places->next_watched;
    if (places->next_watched) places->next_watched->places.watched_link = places->watched_link;
    places->watched_link = NULL;
    places->next_watched = NULL;
}

static void wait_until(ce_loop *loop, int64_t moment) {
    if (loop->check_ms == 0 || moment < loop->check_ms) loop->check_ms = moment;
}

static void enter(ce_transfer *transfer) {
    ce_places *places = &transfer->places;
    if (places->watched_link || !transfer->handle.multi) return;
    ce_loop *loop = transfer->handle.multi->loop;
    places->check_wait_ms = FIRST_WAIT_MS;
    places->check_ms = loop->now_ms + FIRST_WAIT_MS;
    wait_until(loop, places->check_ms);
    places->next_watched = loop->watched;
    if (loop->watched) loop->watched->places.watched_link = &places->next_watched;
    places->watched_link = &loop->watched;
    loop->watched = transfer;
}

void ce_early_response_reset(ce_transfer *transfer) {
    leave(transfer);
    transfer->run.early = (ce_run_early){0};
}

void ce_early_response_skip_reports(ce_transfer *transfer) { transfer->run.early.reports_to_skip = REPORTS_IN_RUN; }

int ce_on_progress(void *user, curl_off_t expected, curl_off_t received, curl_off_t to_send, curl_off_t sent) {
    (void)expected, (void)to_send;
    ce_transfer *transfer = user;
    ce_run_send *send = &transfer->run.send;
    ce_run_early *early = &transfer->run.early;
    if (ce_codings_are_stuck(transfer, received)) {
        ce_transfer_refuse(transfer, CE_REFUSED_DECODER);
        return 1;
    }
    if (!transfer->run.request.has_body) return 0;
    if (!transfer->run.receive.head_done || !(send->is_paused || transfer->run.gates.speaks_http2)) return 0;
    if (transfer->run.gates.speaks_http2) enter(transfer);
    // If libcurl had the whole request body before the response came, the rest is on its way or blocked by the socket.
    // The delayed runs are sufficient then, and a long response does not cause a run with each of its pieces.
    if (!send->is_paused && !send->had_early_response) return 0;
    // The additional run reports progress too. That is no reason for another one, unless more was sent.
    bool is_own_report = early->reports_to_skip > 0;
    if (is_own_report) early->reports_to_skip--;
    if (is_own_report && sent == early->checked_at_sent) return 0;
    early->checked_at_sent = sent;
    early->needs_run = true;
    ce_transfer_touch(transfer);
    return 0;
}

int ce_transfer_ask_again(ce_transfer *transfer) {
    if (!transfer->run.early.needs_run) return 0;
    transfer->run.early.needs_run = false;
    ce_early_response_skip_reports(transfer);
    if (transfer->run.send.is_paused) {
        transfer->run.send.is_paused = false;
        return ce_transfer_apply_pauses(transfer);
    }
    // A transfer whose receiving is paused runs when it resumes. Otherwise, pausing and resuming it makes libcurl run.
    if (transfer->run.receive.is_paused) return 0;
    int code = (int)curl_easy_pause(transfer->handle.easy, CURLPAUSE_RECV);
    return code ? code : ce_transfer_apply_pauses(transfer);
}

static bool is_over(ce_transfer *transfer) {
    if (curl_version_info(CURLVERSION_NOW)->version_num >= 0x080100) return false;
    if (!transfer->run.gates.speaks_http2 || !ce_transfer_has_whole_response(transfer)) return false;
    if (ce_endings_is_reset(transfer)) return true;
    ce_run_early *early = &transfer->run.early;
    curl_off_t sent = 0;
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    bool is_stalled = sent == early->stalled_at_sent && transfer->places.check_wait_ms >= STALL_MS;
    early->stalled_at_sent = sent;
    // A source that has no bytes is no reason to end the request.
    return is_stalled && !transfer->run.send.is_paused;
}

void ce_early_response_check_overdue(ce_loop *loop) {
    if (loop->check_ms == 0 || loop->check_ms > loop->now_ms) return;
    loop->check_ms = 0;
    for (ce_transfer *transfer = loop->watched; transfer; transfer = transfer->places.next_watched) {
        ce_places *places = &transfer->places;
        if (places->check_ms <= loop->now_ms) {
            if (is_over(transfer)) transfer->run.early.is_over = true;
            if (places->check_wait_ms < LONGEST_WAIT_MS) places->check_wait_ms *= 2;
            places->check_ms = loop->now_ms + places->check_wait_ms;
            transfer->run.early.needs_run = true;
            ce_transfer_touch(transfer);
        }
        wait_until(loop, places->check_ms);
    }
}
