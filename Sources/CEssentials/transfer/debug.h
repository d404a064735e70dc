// The texts that libcurl shows in verbose mode.
#ifndef CE_DEBUG_H
#define CE_DEBUG_H

#include "../state/transfer_state.h"

// libcurl's debug callback.
int ce_on_debug(CURL *easy, curl_infotype type, char *line, size_t size, void *transfer);

#endif
