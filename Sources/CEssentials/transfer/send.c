#include "send.h"

#include "../base/clock.h"
#include "early_responses.h"

#include <stdio.h>

// A sending that begins anew, after a kept connection turned out dead. Only what is lent can be read again.
int ce_on_seek(void *user, curl_off_t offset, int origin) {
    ce_transfer *transfer = user;
    if (!transfer->run.request.read_body || origin != SEEK_SET || offset < 0 || offset > transfer->run.send.left) {
        return CURL_SEEKFUNC_FAIL;
    }
    transfer->run.send.lent_offset = offset;
    return CURL_SEEKFUNC_OK;
}

static size_t read_lent(ce_transfer *transfer, char *buffer, size_t size) {
    // libcurl was told the length, so that is where it stops asking.
    int64_t left = transfer->run.send.left - transfer->run.send.lent_offset;
    size_t count = left < (int64_t)size ? (size_t)left : size;
    if (count) transfer->run.request.read_body(transfer->owner, transfer->run.send.lent_offset, buffer, count);
    transfer->run.send.lent_offset += (int64_t)count;
    if (transfer->run.send.lent_offset == transfer->run.send.left) transfer->run.sent_us = ce_now_us();
    return count;
}

size_t ce_on_upload(char *buffer, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    transfer->run.last_activity_ms = transfer->handle.multi->loop->now_ms;
    if (transfer->run.request.read_body) return read_lent(transfer, buffer, size * items);
    if (transfer->run.send.has_failed) {
        ce_transfer_refuse(transfer, CE_REFUSED_UPLOAD);
        return CURL_READFUNC_ABORT;
    }
    ce_supply supply = transfer->run.request.take_body(transfer->owner, buffer, size * items);
    // More than the announced length would be read by the server as a request of its own; less, as a body still to come.
    bool is_over = transfer->run.send.left >= 0 && supply.available > (uint64_t)transfer->run.send.left;
    bool is_short = supply.available == 0 && supply.ended && transfer->run.send.left > 0;
    if (is_over || is_short) {
        ce_transfer_refuse(transfer, CE_REFUSED_UPLOAD_LENGTH);
        return CURL_READFUNC_ABORT;
    }
    if (supply.count || supply.ended) transfer->run.send.has_begun = true;
    if (supply.count == 0) {
        if (supply.ended) {
            transfer->run.sent_us = ce_now_us();
            return 0;
        }
        transfer->run.send.is_paused = true;
        ce_early_response_skip_reports(transfer);
        return CURL_READFUNC_PAUSE;
    }
    if (transfer->run.send.left >= 0) transfer->run.send.left -= (int64_t)supply.count;
    if (transfer->run.send.left == 0) transfer->run.sent_us = ce_now_us();
    return supply.count;
}

int ce_transfer_fail_upload(ce_transfer *transfer) {
    transfer->run.send.has_failed = true;
    return ce_transfer_resume_upload(transfer);
}
