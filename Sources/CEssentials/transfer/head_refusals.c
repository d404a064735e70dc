// Judges each line of a response's head when it arrives, before libcurl acts on the whole head (RFC 9112, 4 and 5).
#include "head_refusals.h"

#include "../base/text.h"
#include "codings.h"

#include <string.h>

// RFC 9112, 2.3 and 4. libcurl accepts any line that begins with "http/" in any case, and reads an unparsable one as
// version 1.0 and status 200.
static bool is_status_line(const char *line, size_t count) {
    if (count < 13 || memcmp(line, "HTTP/1.", 7) != 0) return false;
    if ((line[7] != '0' && line[7] != '1') || line[8] != ' ') return false;
    if (!ce_is_digit(line[9]) || !ce_is_digit(line[10]) || !ce_is_digit(line[11])) return false;
    return line[12] == ' ' || ce_is_line_end(line + 12, count - 12);
}

// RFC 9112, 5.1: a name is not empty and has no blanks, neither inside nor before the colon. Readers that disagree about
// such a name see two different fields. A line that begins with a blank continues the field before it.
static bool has_unsound_name(const char *line, size_t count) {
    const char *colon = ce_is_blank(line[0]) ? NULL : memchr(line, ':', count);
    if (!colon) return false;
    if (colon == line) return true;
    for (const char *byte = line; byte < colon; byte++) {
        if (ce_is_blank(*byte)) return true;
    }
    return false;
}

// Reads how long the server keeps an idle connection, as in `Keep-Alive: timeout=5, max=100`. HTTP/2 has no such field.
static void note_keep_alive(ce_transfer *transfer, const char *line, size_t count) {
    static const char name[] = "keep-alive:";
    static const char parameter[] = "timeout=";
    static const long maximum = 1000000;
    const size_t name_size = sizeof name - 1, parameter_size = sizeof parameter - 1;
    if (transfer->run.gates.speaks_http2 || transfer->run.receive.head_done) return;
    if (count < name_size || !ce_equals_ignoring_case(line, name, name_size)) return;
    for (size_t i = name_size; i + parameter_size < count; i++) {
        bool begins = line[i - 1] == ':' || line[i - 1] == ',' || ce_is_blank(line[i - 1]);
        if (!begins || !ce_equals_ignoring_case(line + i, parameter, parameter_size)) continue;
        size_t place = i + parameter_size;
        if (!ce_is_digit(line[place])) return;
        long seconds = 0;
        for (; place < count && ce_is_digit(line[place]); place++) {
            if (seconds < maximum) seconds = 10 * seconds + (line[place] - '0');
        }
        transfer->run.receive.keep_alive_s = seconds > 0 ? seconds : 1;
        return;
    }
}

ce_refusal ce_head_line_judge(ce_transfer *transfer, const char *line, size_t count) {
    ce_run_receive *receive = &transfer->run.receive;
    receive->head_total += count;
    if (receive->head_total > transfer->run.request.head_limit) return CE_REFUSED_HEAD_LIMIT;
    receive->head_lines++;
    if (receive->head_lines > transfer->run.request.head_line_limit) return CE_REFUSED_HEAD_LINES;
    // libcurl takes every line that begins with one of these for the end of a head.
    if (line[0] == '\r' || line[0] == '\n') return ce_is_line_end(line, count) ? CE_REFUSED_NOT : CE_REFUSED_LINE;
    bool is_first = transfer->buffers.head.count == 0 && !receive->head_done;
    if (is_first) {
        // Over HTTP/2, libcurl produces the status line itself.
        bool is_sound = transfer->run.gates.speaks_http2 || is_status_line(line, count);
        return is_sound ? CE_REFUSED_NOT : CE_REFUSED_STATUS_LINE;
    }
    if (has_unsound_name(line, count)) return CE_REFUSED_LINE;
    note_keep_alive(transfer, line, count);
    return ce_codings_note_field(transfer, line, count);
}
