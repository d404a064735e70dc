// Records the beginning of a server's TLS handshake, for the message of a failure. It makes no decision.
#ifndef CE_FIRST_RECORD_H
#define CE_FIRST_RECORD_H

#include "CEssentials.h"

#include <openssl/ssl.h>

// Notes the protocol of the server's first bytes and the version of its ServerHello in `report`, which must outlive
// the context. The context's minimum version must be set before. A connection stops watching after its ServerHello.
void ce_first_record_watch(SSL_CTX *ssl, ce_report *report);

#endif
