// What libcurl measured of a transfer.
#include "../base/clock.h"
#include "../base/text.h"
#include "../state/transfer_state.h"

static int64_t read_time(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? (int64_t)value : 0;
}

static long read_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

bool ce_transfer_on_kept_connection(const ce_transfer *transfer) {
    long opened = 0;
    return curl_easy_getinfo(transfer->handle.easy, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK && opened == 0;
}

bool ce_transfer_may_have_bytes(const ce_transfer *transfer) {
    return read_time(transfer->handle.easy, CURLINFO_STARTTRANSFER_TIME_T) > 0;
}

int64_t ce_transfer_last_activity_ms(ce_transfer *transfer) {
    ce_run *run = &transfer->run;
    CURL *easy = transfer->handle.easy;
    int64_t moved = read_time(easy, CURLINFO_SIZE_UPLOAD_T) + read_time(easy, CURLINFO_SIZE_DOWNLOAD_T) +
                    read_long(easy, CURLINFO_HEADER_SIZE);
    if (moved != run->moved_bytes) {
        run->moved_bytes = moved;
        run->last_activity_ms = ce_now_ms();
    }
    return run->last_activity_ms;
}

long ce_transfer_http_version(const ce_transfer *transfer) {
    long version = read_long(transfer->handle.easy, CURLINFO_HTTP_VERSION);
    return version == CURL_HTTP_VERSION_2_0 ? 20 : version == CURL_HTTP_VERSION_1_0 ? 10 : 11;
}

ce_timings ce_transfer_timings(const ce_transfer *transfer) {
    const ce_run *run = &transfer->run;
    CURL *easy = transfer->handle.easy;
    ce_timings timings = {
        .began_us = read_time(easy, CURLINFO_PRETRANSFER_TIME_T),
        .sent_us = run->sent_us ? run->sent_us - run->started_us : 0,
        // If there is an upload, libcurl's own value is the time at which it begins.
        .first_byte_us = run->response_us ? run->response_us - run->started_us : 0,
        .total_us = ce_now_us() - run->started_us,
        .body_bytes_received = read_time(easy, CURLINFO_SIZE_DOWNLOAD_T),
        .body_bytes_sent = transfer->handle.reports_progress ? read_time(easy, CURLINFO_SIZE_UPLOAD_T) : 0,
        .reused = run->send_count > 0 && ce_transfer_on_kept_connection(transfer),
        .peer_port = read_long(easy, CURLINFO_PRIMARY_PORT),
    };
    if (!timings.reused) {
        timings.resolved_us = read_time(easy, CURLINFO_NAMELOOKUP_TIME_T);
        timings.connected_us = read_time(easy, CURLINFO_CONNECT_TIME_T);
        timings.secured_us = read_time(easy, CURLINFO_APPCONNECT_TIME_T);
    }
    timings.http_version = ce_transfer_http_version(transfer);
    char *address = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK && address) {
        ce_copy_text(timings.peer_address, sizeof timings.peer_address, address);
    }
    return timings;
}
