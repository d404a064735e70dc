// Growing byte buffers and the body callbacks, shared by the C files of this target only.
#ifndef CE_BUFFERS_H
#define CE_BUFFERS_H

#include "internal.h"

bool ce_bytes_append(ce_bytes *bytes, const void *data, size_t count, size_t first_capacity);
void ce_bytes_free(ce_bytes *bytes);
// Empties it, and keeps its memory if that is little.
void ce_bytes_reset(ce_bytes *bytes);
ce_bytes ce_bytes_take(ce_bytes *bytes);

size_t ce_on_header(char *line, size_t size, size_t items, void *transfer);
int ce_on_debug(CURL *easy, curl_infotype type, char *line, size_t size, void *transfer);
size_t ce_on_body(char *data, size_t size, size_t items, void *transfer);
size_t ce_on_upload(char *buffer, size_t size, size_t items, void *transfer);
// Judges a line of a head or of trailers, and counts it.
ce_refusal ce_judge_head_line(ce_transfer *transfer, const char *line, size_t count);
// Begins the next head without the codings of the last one.
void ce_forget_codings(ce_transfer *transfer);
// Judges the codings of the final head, whose status is known.
ce_refusal ce_judge_codings(const ce_transfer *transfer);
// Has libcurl hand the body over as it is; false if it refuses.
bool ce_stop_decoding(ce_transfer *transfer);
// Has libcurl report what comes in; to be called when a body turns out to be compressed.
void ce_watch_decoder(ce_transfer *transfer);
// Whether too much has come in since the decoder last gave something out.
bool ce_decoder_is_stuck(ce_transfer *transfer, curl_off_t received);
int ce_on_progress(void *transfer, curl_off_t expected, curl_off_t received, curl_off_t to_send, curl_off_t sent);
int ce_transfer_apply_pauses(ce_transfer *transfer);
int ce_on_seek(void *transfer, curl_off_t offset, int origin);

#endif
