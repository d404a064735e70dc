// Classes of ASCII characters, independent of the process's locale, and texts in buffers of a fixed size.
#ifndef CE_TEXT_H
#define CE_TEXT_H

#include "CEssentials.h"

static inline bool ce_is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// A space or a tab: the white space inside a line (RFC 9110, 5.6.3).
static inline bool ce_is_blank(char byte) { return byte == ' ' || byte == '\t'; }

// The white space that libcurl skips around a content coding.
static inline bool ce_is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

static inline char ce_lower(char byte) { return byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte; }

// Whether `count` bytes equal those of `lower`, which has no upper-case letter.
static inline bool ce_equals_ignoring_case(const char *bytes, const char *lower, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ce_lower(bytes[i]) != lower[i]) return false;
    }
    return true;
}

// Whether a line is empty: CRLF, or LF alone.
static inline bool ce_is_line_end(const char *line, size_t count) {
    return (count == 2 && line[0] == '\r' && line[1] == '\n') || (count == 1 && line[0] == '\n');
}

// Copies a text and cuts it off where the buffer ends. The copy is always terminated.
void ce_copy_text(char *to, size_t size, const char *from);
// Copies the description of a value of `errno`.
void ce_copy_system_error(char text[CE_TEXT_SIZE], int code);

#endif
