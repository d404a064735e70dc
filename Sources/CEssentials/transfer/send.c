#include "send.h"

#include "../base/clock.h"
#include "early_responses.h"

#include <stdio.h>

// libcurl rewinds the body before a second attempt, after a kept connection turned out to be dead. Only a lent body can
// be read again.
int ce_on_seek(void *user, curl_off_t offset, int origin) {
    ce_transfer *transfer = user;
    if (!transfer->run.request.read_body || origin != SEEK_SET || offset < 0 || offset > transfer->run.send.left) {
        return CURL_SEEKFUNC_FAIL;
    }
    transfer->run.send.lent_offset = offset;
    return CURL_SEEKFUNC_OK;
}

static size_t read_lent(ce_transfer *transfer, char *buffer, size_t size) {
    ce_run_send *send = &transfer->run.send;
    // libcurl knows the length and stops reading there.
    int64_t left = send->left - send->lent_offset;
    size_t count = left < (int64_t)size ? (size_t)left : size;
    if (count) transfer->run.request.read_body(transfer->owner, send->lent_offset, buffer, count);
    send->lent_offset += (int64_t)count;
    if (send->lent_offset == send->left) transfer->run.sent_us = ce_now_us();
    return count;
}

size_t ce_on_upload(char *buffer, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    ce_run *run = &transfer->run;
    ce_run_send *send = &run->send;
    run->last_activity_ms = transfer->handle.multi->loop->now_ms;
    if (run->request.read_body) return read_lent(transfer, buffer, size * items);
    if (send->has_failed) {
        ce_transfer_refuse(transfer, CE_REFUSED_UPLOAD);
        return CURL_READFUNC_ABORT;
    }
    ce_supply supply = run->request.take_body(transfer->owner, buffer, size * items);
    // A server would take bytes beyond the announced length for another request. With fewer bytes it would wait for the
    // rest of the body.
    bool is_over = send->left >= 0 && supply.available > (uint64_t)send->left;
    bool is_short = supply.available == 0 && supply.ended && send->left > 0;
    if (is_over || is_short) {
        ce_transfer_refuse(transfer, CE_REFUSED_UPLOAD_LENGTH);
        return CURL_READFUNC_ABORT;
    }
    if (supply.count || supply.ended) send->has_begun = true;
    if (supply.count == 0) {
        if (supply.ended) {
            run->sent_us = ce_now_us();
            return 0;
        }
        send->is_paused = true;
        ce_early_response_skip_reports(transfer);
        return CURL_READFUNC_PAUSE;
    }
    if (send->left >= 0) send->left -= (int64_t)supply.count;
    if (send->left == 0) run->sent_us = ce_now_us();
    return supply.count;
}

int ce_transfer_fail_upload(ce_transfer *transfer) {
    transfer->run.send.has_failed = true;
    return ce_transfer_resume_upload(transfer);
}
