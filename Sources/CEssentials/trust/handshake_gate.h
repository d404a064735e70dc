// The first gate of a trust policy, which runs inside the handshake.
#ifndef CE_HANDSHAKE_GATE_H
#define CE_HANDSHAKE_GATE_H

#include "evidence.h"

// Installs the gate on a context to which `connection` is attached already, so that the context keeps the data of the
// callbacks alive.
bool ce_handshake_gate_install(SSL_CTX *ssl, ce_connection *connection);

#endif
