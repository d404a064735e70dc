// Responses that end before their requests.
#ifndef CE_EARLY_RESPONSES_H
#define CE_EARLY_RESPONSES_H

#include "../state/transfer_state.h"

// Stops watching a transfer.
void ce_early_response_reset(ce_transfer *transfer);
// Call it when a request body is paused or libcurl is made to run. Progress reports that result only from this do not
// cause another run.
void ce_early_response_skip_reports(ce_transfer *transfer);
// Touches the watched transfers that are due.
void ce_early_response_check_overdue(ce_loop *loop);
// libcurl's progress callback.
int ce_on_progress(void *transfer, curl_off_t expected, curl_off_t received, curl_off_t to_send, curl_off_t sent);

#endif
