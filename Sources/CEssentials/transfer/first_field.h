// The lines of a response before its first field.
#ifndef CE_FIRST_FIELD_H
#define CE_FIRST_FIELD_H

#include "../state/transfer_state.h"

// Whether this libcurl folds a response's first line into the last field of the response before it.
bool ce_remembers_fields(void);
// Watches the lines of a response until its first field.
void ce_await_first_field(ce_transfer *transfer);
// Watches for a GOAWAY until the transfer ends.
void ce_await_goaway(ce_transfer *transfer);
// Stops watching.
void ce_await_no_field(ce_transfer *transfer);
// Inspects a line of a head, and overwrites it if it is folded into nothing.
void ce_inspect_line(ce_transfer *transfer, char *line, size_t size);

#endif
