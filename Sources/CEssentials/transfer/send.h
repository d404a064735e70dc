// The request body: libcurl's callbacks that read it and restart it.
#ifndef CE_SEND_H
#define CE_SEND_H

#include "../state/transfer_state.h"

size_t ce_on_upload(char *buffer, size_t size, size_t items, void *transfer);
int ce_on_seek(void *transfer, curl_off_t offset, int origin);

#endif
