// How the wire ends a transfer, and which requests the server has certainly not processed.
#ifndef CE_ENDINGS_H
#define CE_ENDINGS_H

#include "../state/transfer_state.h"

#include <openssl/ssl.h>

// The TLS session of the connection; NULL without TLS.
SSL *ce_session_of(const ce_transfer *transfer);
// Call it when the request gate has let a request over HTTP/2 pass.
void ce_endings_expect_stream(ce_transfer *transfer);
// Call it after libcurl has run. Notes the streams of the requests that were sent meanwhile.
void ce_endings_note_streams(ce_loop *loop);
// A text of libcurl in verbose mode.
void ce_endings_note_text(ce_transfer *transfer, const char *text, size_t size);
// Why libcurl wants to send a request again. Call it before the request gate checks the new connection.
ce_resend ce_endings_resend(const ce_transfer *transfer, bool speaks_http2);
// Whether the server has reset the stream of a response that is complete, where libcurl does not notice it.
bool ce_endings_is_reset(const ce_transfer *transfer);
// Judges a transfer that libcurl has ended, and replaces the code of a response that is complete.
void ce_endings_judge(ce_transfer *transfer, int *curl_code);

#endif
