// Judges each line of a response's head when it comes, before libcurl acts on the head as a whole (RFC 9112, 4 and 5).
#include "buffers.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

static bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }

static bool is_end(const char *line, size_t count) {
    return (count == 2 && line[0] == '\r' && line[1] == '\n') || (count == 1 && line[0] == '\n');
}

// RFC 9112, 2.3 and 4. libcurl accepts whatever begins with "http/" in any case, and takes what it cannot read for
// version 1.0 and status 200.
static bool is_status_line(const char *line, size_t count) {
    if (count < 13 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || line[8] != ' ') return false;
    if (!is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11])) return false;
    return line[12] == ' ' || is_end(line + 12, count - 12);
}

// RFC 9112, 5.1: readers that disagree about such a name see two different fields. A line that begins with a blank
// belongs to the field before it.
static bool has_blank_before_colon(const char *line, size_t count) {
    const char *colon = is_blank(line[0]) ? NULL : memchr(line, ':', count);
    return colon && colon > line && is_blank(colon[-1]);
}

// White space as libcurl skips it around a coding.
static bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// Counts the codings that a Content-Encoding field names, without `identity`.
static void note_codings(ce_transfer *transfer, const char *value, size_t count) {
    const char *end = value + count;
    while (value < end) {
        const char *comma = memchr(value, ',', (size_t)(end - value));
        const char *last = comma ? comma : end;
        while (value < last && is_space(*value)) value++;
        const char *stop = last;
        while (stop > value && is_space(stop[-1])) stop--;
        size_t length = (size_t)(stop - value);
        bool is_identity = length == 8 && strncasecmp(value, "identity", 8) == 0;
        if (length && !is_identity) transfer->coding_count++;
        if (length == 4 && strncasecmp(value, "zstd", 4) == 0) transfer->names_zstd = true;
        value = comma ? comma + 1 : end;
    }
}

static ce_refusal note_field(ce_transfer *transfer, const char *line, size_t count) {
    static const char name[] = "content-encoding:";
    const size_t name_size = sizeof name - 1;
    if (!transfer->decompress || transfer->head_done) return CE_REFUSED_NOT;
    // libcurl does not see the rest of a folded value.
    if (is_blank(line[0])) return transfer->names_codings ? CE_REFUSED_LINE : CE_REFUSED_NOT;
    transfer->names_codings = count >= name_size && strncasecmp(line, name, name_size) == 0;
    if (transfer->names_codings) note_codings(transfer, line + name_size, count - name_size);
    return CE_REFUSED_NOT;
}

void ce_forget_codings(ce_transfer *transfer) {
    transfer->coding_count = 0;
    transfer->names_codings = transfer->names_zstd = false;
}

// libcurl decodes all codings of a body within one call. Their work multiplies and cannot be interrupted, so it is
// refused in the head. A zstd window may take 128 MiB: RFC 9659 asks for at most 8 MiB, but libcurl has no option for
// that. A collected body is bounded by its own limit. A streamed body has none, so zstd is refused for it.
ce_refusal ce_judge_codings(const ce_transfer *transfer) {
    bool has_body = !transfer->is_head && transfer->status != 204 && transfer->status != 304;
    if (!has_body) return CE_REFUSED_NOT;
    if (transfer->coding_count > 1) return CE_REFUSED_CODINGS;
    return transfer->names_zstd && transfer->streaming ? CE_REFUSED_CODING : CE_REFUSED_NOT;
}

ce_refusal ce_judge_head_line(ce_transfer *transfer, const char *line, size_t count) {
    transfer->head_total += count;
    if (transfer->head_total > transfer->head_limit) return CE_REFUSED_HEAD_LIMIT;
    transfer->head_lines++;
    if (transfer->head_lines > transfer->head_line_limit) return CE_REFUSED_HEAD_LINES;
    // libcurl takes every line that begins so for the end of a head.
    if (line[0] == '\r' || line[0] == '\n') return is_end(line, count) ? CE_REFUSED_NOT : CE_REFUSED_LINE;
    bool is_first = transfer->head.count == 0 && !transfer->head_done;
    if (is_first) {
        // Over HTTP/2, libcurl makes the status line itself.
        return transfer->speaks_http2 || is_status_line(line, count) ? CE_REFUSED_NOT : CE_REFUSED_STATUS_LINE;
    }
    if (has_blank_before_colon(line, count)) return CE_REFUSED_LINE;
    return note_field(transfer, line, count);
}
