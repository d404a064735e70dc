#include "text.h"

#include <string.h>

void ce_copy_text(char *to, size_t size, const char *from) {
    size_t count = strnlen(from, size - 1);
    memcpy(to, from, count);
    to[count] = 0;
}

void ce_copy_system_error(char text[CE_TEXT_SIZE], int code) { ce_copy_text(text, CE_TEXT_SIZE, strerror(code)); }
