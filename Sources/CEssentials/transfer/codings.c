#include "codings.h"

#include "../base/text.h"

#include <string.h>

// Counts the codings that a Content-Encoding field names, without `identity`.
static void note_codings(ce_transfer *transfer, const char *value, size_t count) {
    const char *end = value + count;
    while (value < end) {
        const char *comma = memchr(value, ',', (size_t)(end - value));
        const char *last = comma ? comma : end;
        while (value < last && ce_is_space(*value)) value++;
        const char *stop = last;
        while (stop > value && ce_is_space(stop[-1])) stop--;
        size_t length = (size_t)(stop - value);
        bool is_identity = length == 8 && ce_equals_ignoring_case(value, "identity", 8);
        if (length && !is_identity) transfer->run.receive.coding_count++;
        if (length == 4 && ce_equals_ignoring_case(value, "zstd", 4)) transfer->run.receive.names_zstd = true;
        value = comma ? comma + 1 : end;
    }
}

ce_refusal ce_codings_note_field(ce_transfer *transfer, const char *line, size_t count) {
    static const char name[] = "content-encoding:";
    const size_t name_size = sizeof name - 1;
    if (!transfer->run.receive.decodes || transfer->run.receive.head_done) return CE_REFUSED_NOT;
    // libcurl does not see the rest of a folded value.
    if (ce_is_blank(line[0])) return transfer->run.receive.names_codings ? CE_REFUSED_LINE : CE_REFUSED_NOT;
    transfer->run.receive.names_codings = count >= name_size && ce_equals_ignoring_case(line, name, name_size);
    if (transfer->run.receive.names_codings) note_codings(transfer, line + name_size, count - name_size);
    return CE_REFUSED_NOT;
}

void ce_codings_forget(ce_transfer *transfer) {
    transfer->run.receive.coding_count = 0;
    transfer->run.receive.names_codings = transfer->run.receive.names_zstd = false;
}

// libcurl decodes all codings of a body within one call. Their work multiplies and cannot be interrupted, so it is
// refused in the head. A zstd window may take 128 MiB: RFC 9659 asks for at most 8 MiB, but libcurl has no option for
// that. A collected body is bounded by its own limit. A streamed body has none, so zstd is refused for it.
ce_refusal ce_codings_judge(const ce_transfer *transfer) {
    bool has_body = !transfer->run.request.is_head && transfer->run.receive.status != 204 && transfer->run.receive.status != 304;
    if (!has_body) return CE_REFUSED_NOT;
    if (transfer->run.receive.coding_count > 1) return CE_REFUSED_CODINGS;
    return transfer->run.receive.names_zstd && transfer->run.receive.streams ? CE_REFUSED_CODING : CE_REFUSED_NOT;
}
bool ce_codings_stop(ce_transfer *transfer) {
    if (curl_easy_setopt(transfer->handle.easy, CURLOPT_HTTP_CONTENT_DECODING, 0L) != CURLE_OK) return false;
    transfer->handle.decodes = transfer->run.receive.decodes = false;
    return true;
}

void ce_codings_watch(ce_transfer *transfer) {
    if (transfer->handle.reports_progress) return;
    transfer->handle.reports_progress = curl_easy_setopt(transfer->handle.easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
}

bool ce_codings_are_stuck(ce_transfer *transfer, curl_off_t received) {
    if (transfer->run.receive.coding_count == 0 || transfer->run.receive.draining) return false;
    if (transfer->run.receive.body_total != transfer->run.receive.decoder_output || received < transfer->run.receive.decoder_input) {
        transfer->run.receive.decoder_output = transfer->run.receive.body_total;
        transfer->run.receive.decoder_input = received;
    }
    return received - transfer->run.receive.decoder_input > CE_DECODER_INPUT_MAXIMUM;
}
// Whether a compressed body has unpacked to more than its size allows. Small ones may: a page of blanks is no attack.
bool ce_codings_expand_too_far(const ce_transfer *transfer, size_t count) {
    if (!transfer->run.request.expansion_limit || !transfer->run.receive.decodes) return false;
    size_t total = transfer->run.receive.body_total + count;
    if (total <= CE_EXPANSION_FLOOR) return false;
    curl_off_t received = 0;
    if (curl_easy_getinfo(transfer->handle.easy, CURLINFO_SIZE_DOWNLOAD_T, &received) != CURLE_OK || received <= 0) return false;
    return total / transfer->run.request.expansion_limit > (uint64_t)received;
}
