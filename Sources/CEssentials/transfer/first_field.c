// Protects libcurl before 8.1.1 from a use after free in the first lines of a response.
//
// Those versions remember the last field of a handle's previous response after it was freed, and append a folded first
// line of the next response to it. A server whose first field line begins with a blank could corrupt this process.
// libcurl shows every line to the debug callback before it parses the line, in the same memory. Here the lines are
// inspected until there is a field that a folded line can belong to. A folded line before that is overwritten so that
// libcurl skips it, and the response is refused, as RFC 9112, 2.2, permits.
//
// libcurl calls the debug callback only in verbose mode, in which it also formats texts that nobody reads. So the mode
// is turned on with the status line, which libcurl does not remember as a field, and off with the first field. Over
// HTTP/2 no line is folded, and the mode shows a GOAWAY instead: see endings.c.
#include "first_field.h"

#include "../base/text.h"

#include <stdatomic.h>

bool ce_remembers_fields(void) {
    static atomic_int known = -1;
    int remembers = atomic_load_explicit(&known, memory_order_relaxed);
    if (remembers < 0) {
        remembers = curl_version_info(CURLVERSION_NOW)->version_num < 0x080101;
        atomic_store_explicit(&known, remembers, memory_order_relaxed);
    }
    return remembers == 1;
}

static void set_verbose(ce_transfer *transfer, bool is_verbose) {
    ce_handle *handle = &transfer->handle;
    if (handle->is_verbose == is_verbose) return;
    curl_easy_setopt(handle->easy, CURLOPT_VERBOSE, is_verbose ? 1L : 0L);
    handle->is_verbose = is_verbose;
}

void ce_await_first_field(ce_transfer *transfer) {
    if (!transfer->run.gates.speaks_http2 && ce_remembers_fields()) set_verbose(transfer, true);
}

void ce_await_goaway(ce_transfer *transfer) { set_verbose(transfer, true); }

void ce_await_no_field(ce_transfer *transfer) { set_verbose(transfer, false); }

void ce_inspect_line(ce_transfer *transfer, char *line, size_t size) {
    if (ce_is_blank(line[0])) {
        line[0] = '\r';
        ce_transfer_refuse(transfer, CE_REFUSED_LINE);
        return;
    }
    // After a status line or the end of an informational head there is still no field.
    bool is_status = size >= 5 && ce_equals_ignoring_case(line, "http/", 5); // libcurl accepts any case
    if (!is_status && line[0] != '\r' && line[0] != '\n') set_verbose(transfer, false);
}
