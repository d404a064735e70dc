// Byte buffers that grow.
#ifndef CE_BYTES_H
#define CE_BYTES_H

#include "CEssentials.h"

// Appends bytes. The first allocation has at least `first_capacity` bytes; later ones double. False without memory.
bool ce_bytes_append(ce_bytes *bytes, const void *data, size_t count, size_t first_capacity);
void ce_bytes_free(ce_bytes *bytes);
// Empties a buffer, and keeps its memory up to CE_ANSWER_BUFFER_KEPT bytes.
void ce_bytes_reset(ce_bytes *bytes);
// Moves the buffer out and leaves an empty one.
ce_bytes ce_bytes_take(ce_bytes *bytes);

#endif
