// Content codings of a response: which of them are accepted, and how much work they may cause.
#ifndef CE_CODINGS_H
#define CE_CODINGS_H

#include "../state/transfer_state.h"

// Reads a field line of a head. A folded Content-Encoding is refused.
ce_refusal ce_codings_note_field(ce_transfer *transfer, const char *line, size_t count);
// Forgets the codings of an informational head.
void ce_codings_forget(ce_transfer *transfer);
// If the final head names an unknown coding, nothing of its body is decoded. False if libcurl refuses.
bool ce_codings_skip_unknown(ce_transfer *transfer);
// Judges the codings of the final head, whose status is known.
ce_refusal ce_codings_judge(const ce_transfer *transfer);
// Makes libcurl deliver the body as it is. False if libcurl refuses.
bool ce_codings_stop(ce_transfer *transfer);
// Makes libcurl report how much it receives. Call it for a compressed body.
void ce_codings_watch(ce_transfer *transfer);
// Whether too much was received since the decoder last produced output.
bool ce_codings_are_stuck(ce_transfer *transfer, curl_off_t received);
// Whether a compressed body has expanded beyond its limit after `count` more bytes.
bool ce_codings_expand_too_far(const ce_transfer *transfer, size_t count);

#endif
