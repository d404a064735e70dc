// The response: libcurl's callbacks for its head and its body.
#ifndef CE_RECEIVE_H
#define CE_RECEIVE_H

#include "../state/transfer_state.h"

size_t ce_on_header(char *line, size_t size, size_t items, void *transfer);
size_t ce_on_body(char *data, size_t size, size_t items, void *transfer);

#endif
