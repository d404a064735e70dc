#include "codings.h"

#include "../base/text.h"

#include <string.h>

// Whether libcurl can decode a coding, which depends on the libraries that it was built with.
static bool is_known(const char *name, size_t length) {
    // The older name of gzip (RFC 9110, 8.4.1.3).
    if (length == 6 && ce_equals_ignoring_case(name, "x-gzip", 6)) {
        name += 2;
        length -= 2;
    }
    const char *known = ce_accepted_encodings(false);
    while (*known) {
        size_t size = strcspn(known, ", ");
        if (size && size == length && ce_equals_ignoring_case(name, known, size)) return true;
        known += size + strspn(known + size, ", ");
    }
    return false;
}

// Counts the codings other than `identity` in the value of a Content-Encoding field.
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
        if (length && !is_identity) {
            transfer->run.receive.coding_count++;
            if (!is_known(value, length)) transfer->run.receive.names_unknown = true;
        }
        if (length == 4 && ce_equals_ignoring_case(value, "zstd", 4)) transfer->run.receive.names_zstd = true;
        value = comma ? comma + 1 : end;
    }
}

ce_refusal ce_codings_note_field(ce_transfer *transfer, const char *line, size_t count) {
    ce_run_receive *receive = &transfer->run.receive;
    static const char name[] = "content-encoding:";
    const size_t name_size = sizeof name - 1;
    if (!receive->decodes || receive->head_done) return CE_REFUSED_NOT;
    // libcurl does not read the rest of a folded value.
    if (ce_is_blank(line[0])) return receive->names_codings ? CE_REFUSED_LINE : CE_REFUSED_NOT;
    receive->names_codings = count >= name_size && ce_equals_ignoring_case(line, name, name_size);
    if (receive->names_codings) note_codings(transfer, line + name_size, count - name_size);
    return CE_REFUSED_NOT;
}

void ce_codings_forget(ce_transfer *transfer) {
    ce_run_receive *receive = &transfer->run.receive;
    receive->coding_count = 0;
    receive->names_codings = receive->names_zstd = receive->names_unknown = false;
}

// libcurl decodes all codings of a body within one call. Their work multiplies and cannot be interrupted, so several
// codings are refused in the head. A zstd window may take 128 MiB: RFC 9659 allows at most 8 MiB, but libcurl has no
// option for that. A collected body is bounded by its own limit. A streamed body has no limit, so zstd is refused for
// it.
ce_refusal ce_codings_judge(const ce_transfer *transfer) {
    const ce_run_receive *receive = &transfer->run.receive;
    bool has_body = !transfer->run.request.is_head && receive->status != 204 && receive->status != 304;
    if (!has_body) return CE_REFUSED_NOT;
    if (receive->coding_count > 1) return CE_REFUSED_CODINGS;
    return receive->names_zstd && receive->streams ? CE_REFUSED_CODING : CE_REFUSED_NOT;
}

// A name that libcurl does not know is often no coding at all, such as `utf-8`. libcurl would fail with the first byte of
// the body. Known codings of the same body are not decoded either, because the unknown one may have been applied last.
// From 8.5, libcurl has chosen its decoders by now, and fails with that byte.
bool ce_codings_skip_unknown(ce_transfer *transfer) {
    if (!transfer->run.receive.names_unknown) return true;
    if (curl_version_info(CURLVERSION_NOW)->version_num >= 0x080500) return true;
    transfer->run.receive.coding_count = 0;
    transfer->run.receive.names_zstd = false;
    return ce_codings_stop(transfer);
}

bool ce_codings_stop(ce_transfer *transfer) {
    if (curl_easy_setopt(transfer->handle.easy, CURLOPT_HTTP_CONTENT_DECODING, 0L) != CURLE_OK) return false;
    transfer->handle.decodes = transfer->run.receive.decodes = false;
    return true;
}

void ce_codings_watch(ce_transfer *transfer) {
    ce_handle *handle = &transfer->handle;
    if (handle->reports_progress) return;
    handle->reports_progress = curl_easy_setopt(handle->easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
}

bool ce_codings_are_stuck(ce_transfer *transfer, curl_off_t received) {
    ce_run_receive *receive = &transfer->run.receive;
    if (receive->coding_count == 0 || receive->draining) return false;
    if (receive->body_total != receive->decoder_output || received < receive->decoder_input) {
        receive->decoder_output = receive->body_total;
        receive->decoder_input = received;
    }
    return received - receive->decoder_input > CE_DECODER_INPUT_MAXIMUM;
}

// Small bodies may expand by any factor: a page of blanks is no attack.
bool ce_codings_expand_too_far(const ce_transfer *transfer, size_t count) {
    if (!transfer->run.request.expansion_limit || !transfer->run.receive.decodes) return false;
    size_t total = transfer->run.receive.body_total + count;
    if (total <= CE_EXPANSION_FLOOR) return false;
    curl_off_t received = 0;
    CURLcode code = curl_easy_getinfo(transfer->handle.easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    if (code != CURLE_OK || received <= 0) return false;
    return total / transfer->run.request.expansion_limit > (uint64_t)received;
}
