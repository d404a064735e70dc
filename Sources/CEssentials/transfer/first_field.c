// The first lines of a response, where a libcurl of today's distributions has to be kept from its own memory.
//
// libcurl before 8.1.1 remembers a handle's last field beyond its response, and folds the next response's first line into
// it, although it was freed: a server that begins its fields with a blank could corrupt this process. Those versions show
// every line to the debug callback before they take it, in the memory from which they take it. So the lines of a response
// pass here until there is a field that a fold may belong to. A fold before that becomes a line that libcurl passes over,
// and the response is refused, as RFC 9112, 2.2, allows.
//
// The debug callback is called only while libcurl is verbose. A status line makes it so, of which libcurl remembers
// nothing, and the first field quiet again: it writes texts for nobody otherwise.
#include "first_field.h"

#include "../base/text.h"

#include <stdatomic.h>

bool ce_remembers_fields(void) {
    static atomic_int known = -1;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer < 0) {
        answer = curl_version_info(CURLVERSION_NOW)->version_num < 0x080101;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 1;
}

static void set_verbose(ce_transfer *transfer, bool is_verbose) {
    if (transfer->handle.is_verbose == is_verbose) return;
    curl_easy_setopt(transfer->handle.easy, CURLOPT_VERBOSE, is_verbose ? 1L : 0L);
    transfer->handle.is_verbose = is_verbose;
}

void ce_await_first_field(ce_transfer *transfer) {
    if (!transfer->run.gates.speaks_http2 && ce_remembers_fields()) set_verbose(transfer, true);
}

void ce_await_no_field(ce_transfer *transfer) { set_verbose(transfer, false); }

int ce_on_debug(CURL *easy, curl_infotype type, char *line, size_t size, void *user) {
    (void)easy;
    ce_transfer *transfer = user;
    if (type != CURLINFO_HEADER_IN || size == 0 || !transfer->handle.is_verbose) return 0;
    if (ce_is_blank(line[0])) {
        line[0] = '\r';
        ce_transfer_refuse(transfer, CE_REFUSED_LINE);
        return 0;
    }
    // Behind a status line, or the end of an informational head, there is still no field.
    bool is_status = size >= 5 && ce_equals_ignoring_case(line, "http/", 5); // libcurl takes it in any case
    if (!is_status && line[0] != '\r' && line[0] != '\n') set_verbose(transfer, false);
    return 0;
}
