// Installs the handshake gate on the connections of a transfer.
#ifndef CE_HANDSHAKE_SETUP_H
#define CE_HANDSHAKE_SETUP_H

#include "../state/transfer_state.h"

// libcurl's callback for a new SSL_CTX.
CURLcode ce_install_handshake_gate(CURL *easy, void *ssl_context, void *transfer);

#endif
