#include "pauses.h"

int ce_transfer_apply_pauses(ce_transfer *transfer) {
    int receiving = transfer->run.receive.is_paused ? CURLPAUSE_RECV : 0;
    int sending = transfer->run.send.is_paused ? CURLPAUSE_SEND : 0;
    return (int)curl_easy_pause(transfer->handle.easy, receiving | sending);
}

int ce_transfer_pause_receiving(ce_transfer *transfer, bool paused) {
    if (transfer->run.receive.is_paused == paused) return 0;
    transfer->run.receive.is_paused = paused;
    transfer->run.last_activity_ms = transfer->handle.multi->loop->now_ms;
    return ce_transfer_apply_pauses(transfer);
}

bool ce_transfer_receiving_is_paused(const ce_transfer *transfer) { return transfer->run.receive.is_paused; }

bool ce_transfer_sending_is_paused(const ce_transfer *transfer) { return transfer->run.send.is_paused; }

int ce_transfer_resume_upload(ce_transfer *transfer) {
    if (!transfer->run.send.is_paused) return 0;
    transfer->run.send.is_paused = false;
    return ce_transfer_apply_pauses(transfer);
}
