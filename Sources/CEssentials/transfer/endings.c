// How the wire ends a transfer, and what the server has certainly not processed. Only such a request may be sent again
// whatever its method (RFC 9113, 6.8 and 8.7).
//
// libcurl shows a refused stream by wanting to send the request again: on a kept connection too, because the option
// CURLOPT_RTSP_REQUEST keeps it from doing the same for a dead connection (see options.c). Before 8.1 it shows nothing
// if a GOAWAY also ends the session. The GOAWAY's last stream decides then. libcurl only writes it to its texts, so
// verbose mode is on from the moment at which the request is sent to the end, because any transfer may read the GOAWAY
// that ends another one. The stream's own number is that of the requests that were sent on the connection. A request
// that may not have been sent is not counted, so a number can be too low, but never too high.
#include "endings.h"

#include "../trust/peek.h"
#include "first_field.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { HTTP_1_1_REQUIRED = 13, ENHANCE_YOUR_CALM = 11, RST_STREAM = 3 };

SSL *ce_session_of(const ce_transfer *transfer) {
    struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(transfer->handle.easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

// MARK: Streams

static long request_size(const ce_transfer *transfer) {
    long size = 0;
    return curl_easy_getinfo(transfer->handle.easy, CURLINFO_REQUEST_SIZE, &size) == CURLE_OK ? size : 0;
}

void ce_endings_expect_stream(ce_transfer *transfer) {
    ce_loop *loop = transfer->handle.multi->loop;
    ce_places *places = &transfer->places;
    ce_endings_note_streams(loop);
    transfer->run.stream = 0;
    transfer->run.goaway = (ce_goaway){0};
    // What was sent before, such as a CONNECT to a proxy, is no stream.
    transfer->run.request_size = request_size(transfer);
    // A GOAWAY can be read in the call that sends the request: a kept connection may have received it unread, and on a
    // busy machine a server is quicker than the rest of the call.
    ce_await_goaway(transfer);
    if (places->is_sent) return;
    places->is_sent = true;
    // The order of the streams is that of the requests.
    places->next_sent = NULL;
    if (loop->sent_last) loop->sent_last->places.next_sent = transfer;
    else loop->sent_first = transfer;
    loop->sent_last = transfer;
}

// The connection of a request without TLS that uses a connection of its own has one stream.
static bool is_alone(const ce_transfer *transfer) {
    const ce_scalars *scalars = &transfer->handle.scalars;
    return !transfer->run.gates.carrier && scalars->fresh_connection && scalars->forbids_reuse;
}

void ce_endings_note_streams(ce_loop *loop) {
    ce_transfer *next = loop->sent_first;
    loop->sent_first = loop->sent_last = NULL;
    for (ce_transfer *transfer; (transfer = next);) {
        ce_run *run = &transfer->run;
        next = transfer->places.next_sent;
        transfer->places.next_sent = NULL;
        transfer->places.is_sent = false;
        long size = request_size(transfer);
        bool was_sent = size > run->request_size;
        run->request_size = size;
        if (!was_sent) continue;
        ce_connection *carrier = run->gates.carrier;
        if (carrier) run->stream = carrier->last_stream += carrier->last_stream ? 2 : 1;
        if (is_alone(transfer)) run->stream = 1;
    }
}

// MARK: GOAWAY

// The whole text, so that no request field that libcurl repeats in its texts can look like one.
static bool read_goaway(const char *line, ce_goaway *found) {
    static const char *const beginnings[] = {"recveived GOAWAY, error=", "received GOAWAY, error="};
    const char *number = NULL;
    for (size_t i = 0; !number && i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t size = strlen(beginnings[i]);
        if (strncmp(line, beginnings[i], size) == 0) number = line + size;
    }
    if (!number) return false;
    char *end = NULL;
    // Before 8.11, libcurl writes the code as a signed number.
    found->code = (uint32_t)strtoll(number, &end, 10);
    static const char middle[] = ", last_stream=";
    if (end == number || strncmp(end, middle, sizeof middle - 1) != 0) return false;
    number = end + sizeof middle - 1;
    found->last_stream = (uint32_t)strtoull(number, &end, 10);
    return end != number && (*end == '\0' || *end == '\n');
}

void ce_endings_note_text(ce_transfer *transfer, const char *text, size_t size) {
    char line[128];
    size_t count = size < sizeof line - 1 ? size : sizeof line - 1;
    memcpy(line, text, count);
    line[count] = '\0';
    ce_goaway found = {.has_come = true};
    if (!read_goaway(line, &found)) return;
    // The transfer reads for all streams of a connection, which is not always the one that carries its own request.
    SSL *ssl = ce_session_of(transfer);
    ce_connection *connection = ssl ? ce_connection_of(ssl) : NULL;
    ce_goaway *goaway = connection ? &connection->goaway : is_alone(transfer) ? &transfer->run.goaway : NULL;
    if (!goaway) return;
    // A later GOAWAY can only exclude more streams (RFC 9113, 6.8).
    if (goaway->has_come && goaway->last_stream < found.last_stream) found.last_stream = goaway->last_stream;
    *goaway = found;
}

static ce_goaway goaway_of(const ce_transfer *transfer) {
    const ce_run *run = &transfer->run;
    return run->gates.carrier ? run->gates.carrier->goaway : run->goaway;
}

static bool is_excluded(const ce_transfer *transfer) {
    ce_goaway goaway = goaway_of(transfer);
    return goaway.has_come && transfer->run.stream > goaway.last_stream;
}

bool ce_transfer_is_calmed(const ce_transfer *transfer) {
    ce_goaway goaway = goaway_of(transfer);
    return goaway.has_come && goaway.code == ENHANCE_YOUR_CALM;
}

// MARK: Resends

// A refusal of a stream whose connection demands HTTP/1.1, or does not.
static ce_resend refused(const ce_transfer *transfer) {
    ce_goaway goaway = goaway_of(transfer);
    return goaway.has_come && goaway.code == HTTP_1_1_REQUIRED ? CE_RESEND_HTTP_1_1 : CE_RESEND_REFUSED;
}

ce_resend ce_endings_resend(const ce_transfer *transfer, bool speaks_http2) {
    const ce_run *run = &transfer->run;
    if (run->receive.head_done) {
        return run->receive.status == 417 && run->request.expects_continue ? CE_RESEND_EXPECTATION : CE_RESEND_DEAD;
    }
    bool is_known = !run->sent_on_kept || transfer->handle.shows_refusals;
    if (!run->sent_over_http2 || !is_known || run->receive.head_total) return CE_RESEND_DEAD;
    // After a demand for HTTP/1.1, the next connection speaks that version. A server that refused the stream and has
    // lost HTTP/2 since then gets the same treatment.
    return speaks_http2 ? refused(transfer) : CE_RESEND_HTTP_1_1;
}

// MARK: Ends

bool ce_transfer_has_whole_response(const ce_transfer *transfer) {
    const ce_run_receive *receive = &transfer->run.receive;
    bool has_head = receive->head_done && !receive->is_void;
    if (transfer->run.refusal != CE_REFUSED_NOT || !has_head || receive->draining) return false;
    // libcurl may hold bytes that it has counted, and would drop them.
    if (receive->is_paused) return false;
    if (transfer->run.request.is_head || receive->status == 204 || receive->status == 304) return true;
    if (!receive->has_length) return false;
    curl_off_t expected = -1, received = 0;
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    return expected >= 0 && received == expected;
}

// The socket of a transfer's connection, or -1 if it is not certain: libcurl may have told of it for another transfer. The
// local port of the connection decides.
static int socket_of(const ce_transfer *transfer) {
    int fd = transfer->run.socket;
    struct sockaddr_in6 address = {0};
    socklen_t size = sizeof address;
    long port = 0;
    if (fd <= 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0) return -1;
    if (curl_easy_getinfo(transfer->handle.easy, CURLINFO_LOCAL_PORT, &port) != CURLE_OK) return -1;
    // The port is at the same place for IPv4.
    bool has_port = address.sin6_family == AF_INET || address.sin6_family == AF_INET6;
    return has_port && port > 0 && ntohs(address.sin6_port) == port ? fd : -1;
}

// libcurl reads nothing more for a response whose length is complete. The record in which the server resets the stream
// then waits in OpenSSL or in the socket, and begins with a frame. It may be read here if no other request uses the
// connection.
bool ce_endings_is_reset(const ce_transfer *transfer) {
    const ce_run *run = &transfer->run;
    const ce_connection *carrier = run->gates.carrier;
    SSL *ssl = carrier && carrier->carried == 1 && run->stream ? ce_session_of(transfer) : NULL;
    if (!ssl || ce_connection_of(ssl) != carrier) return false;
    // The session with a proxy below this one cannot be read here.
    int fd = run->request.proxy_is_secure ? -1 : socket_of(transfer);
    if (fd < 0) return false;
    unsigned char bytes[512];
    int error = SSL_ERROR_NONE;
    int count = ce_peek(ssl, fd, bytes, sizeof bytes, &error);
    const unsigned char *frame = bytes;
    while (count >= 13) {
        uint32_t size = (uint32_t)frame[0] << 16 | (uint32_t)frame[1] << 8 | frame[2];
        uint32_t stream = ((uint32_t)frame[5] << 24 | (uint32_t)frame[6] << 16 | (uint32_t)frame[7] << 8 | frame[8]) &
                          0x7fffffff;
        bool is_clean = (frame[9] | frame[10] | frame[11] | frame[12]) == 0;
        if (frame[3] == RST_STREAM && stream == run->stream) return size == 4 && is_clean;
        if (size > (uint32_t)count - 9) return false;
        frame += 9 + size;
        count -= (int)(9 + size);
    }
    return false;
}

// Whether a response has arrived as a whole although libcurl reports an error. That happens if the server does not read
// the rest of a request (RFC 9113, 8.1; RFC 9112, 9.3), and when a connection is closed behind a response.
static bool hides_response(const ce_transfer *transfer, int code) {
    const ce_run *run = &transfer->run;
    // libcurl writes no text if the server has ended the stream without an error.
    bool is_clean_reset = code == CURLE_HTTP2_STREAM && run->error_text[0] == '\0';
    switch (code) {
    case CURLE_HTTP2: case CURLE_PARTIAL_FILE: case CURLE_SEND_ERROR: case CURLE_RECV_ERROR: break;
    default: if (!is_clean_reset) return false;
    }
    // A response without a length may lack its last bytes: libcurl before 8.1 drops those that it reads together with the
    // reset of their stream.
    return ce_transfer_has_whole_response(transfer);
}

static bool lacks_identity(const ce_transfer *transfer) {
    const ce_run_gates *gates = &transfer->run.gates;
    const ce_connection *connection = gates->carrier ? gates->carrier : gates->connection;
    return connection && connection->lacks_identity && !connection->has_responded;
}

static ce_ended of_resend(ce_resend resend) {
    switch (resend) {
    case CE_RESEND_REFUSED: return CE_ENDED_REFUSED;
    case CE_RESEND_HTTP_1_1: return CE_ENDED_HTTP_1_1;
    case CE_RESEND_EXPECTATION: return CE_ENDED_EXPECTATION;
    default: return CE_ENDED_DEAD;
    }
}

// The new connection for a request that libcurl sends again has failed.
static bool is_failed_connection(int code) {
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: case CURLE_COULDNT_RESOLVE_PROXY: case CURLE_COULDNT_CONNECT: case CURLE_PROXY:
    case CURLE_SSL_CONNECT_ERROR:
        return true;
    default: return false;
    }
}

// libcurl before 8.1 reports success for a stream without a response if a GOAWAY has ended the session.
static bool is_end_of_connection(int code) {
    switch (code) {
    case CURLE_OK:
    case CURLE_HTTP2: case CURLE_PARTIAL_FILE: case CURLE_GOT_NOTHING: case CURLE_SEND_ERROR: case CURLE_RECV_ERROR:
        return true;
    default: return false;
    }
}

static ce_ended judge(const ce_transfer *transfer, int code) {
    const ce_run *run = &transfer->run;
    if (run->refusal != CE_REFUSED_NOT && run->refusal != CE_REFUSED_RESEND) return CE_ENDED_OTHERWISE;
    if (run->receive.is_void) return CE_ENDED_EXPECTATION;
    if (code == CURLE_OK && run->receive.head_done) return CE_ENDED_OTHERWISE;
    if (run->resend != CE_RESEND_NONE) {
        bool is_unidentified = run->resend == CE_RESEND_DEAD && lacks_identity(transfer);
        return is_unidentified ? CE_ENDED_NO_IDENTITY : of_resend(run->resend);
    }
    // Nothing but a wish to send again makes libcurl rewind a body.
    if (code == CURLE_SEND_FAIL_REWIND) return of_resend(ce_endings_resend(transfer, true));
    // Before 8.1, libcurl drops what arrives in one piece with the reset of its stream. It writes no text then.
    if (code == CURLE_HTTP2_STREAM && run->error_text[0] == '\0' && run->send_count && run->request.has_body) {
        return CE_ENDED_LOST_RESPONSE;
    }
    if (run->receive.head_total) return CE_ENDED_OTHERWISE;
    if (run->send_count && is_excluded(transfer)) return of_resend(refused(transfer));
    // Nothing but a refusal makes libcurl connect again: see options.c.
    bool shows_refusals = !run->sent_on_kept || transfer->handle.shows_refusals;
    if (run->send_count && run->sent_over_http2 && shows_refusals && is_failed_connection(code)) {
        return CE_ENDED_REFUSED;
    }
    bool has_ended = is_end_of_connection(code);
    if ((has_ended || code == CURLE_SSL_CONNECT_ERROR) && lacks_identity(transfer)) return CE_ENDED_NO_IDENTITY;
    if (run->send_count == 0) return CE_ENDED_OTHERWISE;
    return has_ended && run->sent_on_kept ? CE_ENDED_DEAD : CE_ENDED_OTHERWISE;
}

void ce_endings_judge(ce_transfer *transfer, int *curl_code) {
    ce_run *run = &transfer->run;
    bool is_error = *curl_code != CURLE_OK && run->refusal == CE_REFUSED_NOT;
    if (is_error && hides_response(transfer, *curl_code)) *curl_code = CURLE_OK;
    run->ended = judge(transfer, *curl_code);
    bool is_unprocessed =
        run->ended == CE_ENDED_REFUSED || run->ended == CE_ENDED_HTTP_1_1 || run->ended == CE_ENDED_EXPECTATION;
    if (is_unprocessed && run->refused_count < run->send_count) run->refused_count++;
}

ce_ended ce_transfer_ended(const ce_transfer *transfer) { return transfer->run.ended; }

unsigned ce_transfer_refused_count(const ce_transfer *transfer) { return transfer->run.refused_count; }
