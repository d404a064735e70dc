// Detects compressed input from which the decoder produces no output.
//
// A compressed body can hold endless blocks, frames and tables without content. The limits on a body do not stop it,
// because they count decoded bytes. libcurl reports after each read how much has been received.
#include "buffers.h"

void ce_watch_decoder(ce_transfer *transfer) {
    if (transfer->reports_progress) return;
    transfer->reports_progress = curl_easy_setopt(transfer->easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
}

bool ce_stop_decoding(ce_transfer *transfer) {
    if (curl_easy_setopt(transfer->easy, CURLOPT_HTTP_CONTENT_DECODING, 0L) != CURLE_OK) return false;
    transfer->decompress = false; // so that the next request sets the option again
    return true;
}

bool ce_decoder_is_stuck(ce_transfer *transfer, curl_off_t received) {
    if (transfer->coding_count == 0 || transfer->draining) return false;
    if (transfer->body_total != transfer->decoder_output || received < transfer->decoder_input) {
        transfer->decoder_output = transfer->body_total;
        transfer->decoder_input = received;
    }
    return received - transfer->decoder_input > CE_DECODER_INPUT_MAXIMUM;
}
