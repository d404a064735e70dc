// The second gate of a trust policy, which runs before a request's first byte.
#ifndef CE_REQUEST_GATE_H
#define CE_REQUEST_GATE_H

#include "../state/transfer_state.h"

// libcurl's pre-request callback.
int ce_request_gate(void *transfer, char *remote, char *local, int remote_port, int local_port);

#endif
