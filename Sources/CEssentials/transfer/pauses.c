#include "pauses.h"

int ce_transfer_apply_pauses(ce_transfer *transfer) {
    int mask = (transfer->receive_paused ? CURLPAUSE_RECV : 0) | (transfer->send_paused ? CURLPAUSE_SEND : 0);
    return (int)curl_easy_pause(transfer->easy, mask);
}

int ce_transfer_pause_receiving(ce_transfer *transfer, bool paused) {
    if (transfer->receive_paused == paused) return 0;
    transfer->receive_paused = paused;
    transfer->last_activity_ms = transfer->multi->loop->now_ms;
    return ce_transfer_apply_pauses(transfer);
}

bool ce_transfer_receiving_is_paused(const ce_transfer *transfer) { return transfer->receive_paused; }

bool ce_transfer_sending_is_paused(const ce_transfer *transfer) { return transfer->send_paused; }

int ce_transfer_resume_upload(ce_transfer *transfer) {
    if (!transfer->send_paused) return 0;
    transfer->send_paused = false;
    return ce_transfer_apply_pauses(transfer);
}
