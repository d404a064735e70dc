// The options of easy handles.
#ifndef CE_OPTIONS_H
#define CE_OPTIONS_H

#include "../state/transfer_state.h"

// Sets the options of a new easy handle that never vary. False if libcurl refuses one.
bool ce_options_set_once(ce_transfer *transfer);
// The size of libcurl's buffer for reading a request's response.
long ce_buffer_size(const ce_request *request);
// Sets the options of one request. The result is the name of the option that libcurl refused, or NULL.
const char *ce_options_set(ce_transfer *transfer, ce_multi *multi, const ce_request *request, int *curl_code);
// Frees the texts that a handle's options keep.
void ce_options_free(ce_handle *handle);

#endif
