// libcurl calls back in verbose mode, which is on for the first lines of a response over HTTP/1 (first_field.c), and over HTTP/2
// once a request was sent (endings.c).
#include "debug.h"

#include "endings.h"
#include "first_field.h"

int ce_on_debug(CURL *easy, curl_infotype type, char *line, size_t size, void *user) {
    (void)easy;
    ce_transfer *transfer = user;
    if (size == 0 || !transfer->handle.is_verbose) return 0;
    bool speaks_http2 = transfer->run.gates.speaks_http2;
    if (speaks_http2 && type == CURLINFO_TEXT) ce_endings_note_text(transfer, line, size);
    if (!speaks_http2 && type == CURLINFO_HEADER_IN) ce_inspect_line(transfer, line, size);
    return 0;
}
