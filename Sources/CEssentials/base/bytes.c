#include "bytes.h"

#include <stdlib.h>
#include <string.h>

bool ce_bytes_append(ce_bytes *bytes, const void *data, size_t count, size_t first_capacity) {
    if (count > SIZE_MAX - bytes->count) return false;
    size_t needed = bytes->count + count;
    if (needed > bytes->capacity) {
        size_t capacity = bytes->capacity ? bytes->capacity : first_capacity;
        while (capacity < needed) capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
        char *grown = realloc(bytes->data, capacity);
        if (!grown) return false;
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count = needed;
    return true;
}

void ce_bytes_free(ce_bytes *bytes) {
    free(bytes->data);
    *bytes = (ce_bytes){0};
}

void ce_bytes_reset(ce_bytes *bytes) {
    if (bytes->capacity > CE_ANSWER_BUFFER_KEPT) return ce_bytes_free(bytes);
    bytes->count = 0;
}

ce_bytes ce_bytes_take(ce_bytes *bytes) {
    ce_bytes taken = *bytes;
    *bytes = (ce_bytes){0};
    return taken;
}
