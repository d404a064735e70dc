// Checks the framing of a response that libcurl does not check: fields by which two readers could see two different
// bodies.
#include "head_framing.h"

#include "../base/text.h"

#include <string.h>

typedef struct text {
    const char *start;
    size_t count;
} text;

static text trimmed(text value) {
    while (value.count && ce_is_blank(*value.start)) value.start++, value.count--;
    while (value.count && strchr(" \t\r\n", value.start[value.count - 1])) value.count--;
    return value;
}

static bool is_named(text line, const char *name) {
    size_t count = strlen(name);
    return line.count > count && line.start[count] == ':' && ce_equals_ignoring_case(line.start, name, count);
}

// Reads a decimal number below 2^63. A list of equal numbers counts as one (RFC 9110, 8.6).
static bool read_length(text value, int64_t *length) {
    while (value.count) {
        const char *comma = memchr(value.start, ',', value.count);
        size_t count = comma ? (size_t)(comma - value.start) : value.count;
        text item = trimmed((text){value.start, count});
        int64_t number = 0;
        if (item.count == 0) return false;
        for (size_t i = 0; i < item.count; i++) {
            int digit = item.start[i] - '0';
            if (!ce_is_digit(item.start[i]) || number > (INT64_MAX - digit) / 10) return false;
            number = number * 10 + digit;
        }
        if (*length >= 0 && *length != number) return false;
        *length = number;
        if (!comma) return true;
        value = (text){comma + 1, value.count - count - 1};
    }
    return false;
}

// RFC 9112, 6.1 and 6.3. A length together with chunks is how responses are smuggled. The request allows no transfer
// coding but "chunked".
bool ce_head_framing_is_sound(ce_transfer *transfer) {
    ce_run_receive *receive = &transfer->run.receive;
    int64_t length = -1;
    const char *at = transfer->buffers.head.data, *end = at + transfer->buffers.head.count;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *next = feed ? feed + 1 : end;
        text line = {at, (size_t)(next - at)};
        at = next;
        if (is_named(line, "content-length")) {
            if (!read_length(trimmed((text){line.start + 15, line.count - 15}), &length)) return false;
            receive->has_length = true;
        } else if (is_named(line, "transfer-encoding")) {
            text coding = trimmed((text){line.start + 18, line.count - 18});
            bool is_chunked = coding.count == 7 && ce_equals_ignoring_case(coding.start, "chunked", 7);
            if (!is_chunked || receive->is_chunked) return false;
            receive->is_chunked = true;
        }
    }
    return !(receive->has_length && receive->is_chunked);
}
