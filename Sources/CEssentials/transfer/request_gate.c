// The second gate of a trust policy. It runs before a request's first byte. Pooled connections, resumed sessions and
// further HTTP/2 streams never pass the first gate (trust/handshake_gate.c), so the evidence that it attached to the
// session is judged again for each request. A kept connection that cannot serve another request is detected here as
// well.
#include "request_gate.h"

#include "../base/text.h"
#include "../sockets/carried_requests.h"
#include "../sockets/socket_lookup.h"
#include "../trust/peek.h"
#include "../trust/pins.h"
#include "../trust/session_gate.h"
#include "endings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int stop(ce_transfer *transfer, ce_refusal refusal) {
    ce_transfer_refuse(transfer, refusal);
    return CURL_PREREQFUNC_ABORT;
}

static int distrust(ce_transfer *transfer, ce_verdict verdict, const char *text) {
    ce_run_gates *gates = &transfer->run.gates;
    gates->verdict = verdict;
    if (!gates->report) gates->report = calloc(1, sizeof *gates->report);
    if (gates->report) {
        gates->report->verdict = verdict;
        ce_copy_text(gates->report->text, CE_TEXT_SIZE, text);
    }
    return stop(transfer, CE_REFUSED_TRUST);
}

// Records the trusted chain and the matched pin. The names come from the connection's own handshake, so they are
// missing for a resumed session. If memory runs out, nothing is recorded.
static void record_trust(ce_transfer *transfer, const SSL *ssl, const ce_judgement *found, const ce_peer *peer) {
    ce_run_gates *gates = &transfer->run.gates;
    if (!gates->trust && !(gates->trust = calloc(1, sizeof *gates->trust))) return;
    const ce_evidence *evidence = found->evidence;
    const ce_connection *connection = ce_connection_of(ssl);
    *gates->trust = (ce_report){.verdict = found->verdict, .missed_pins = found->missed_pins};
    gates->trust->match = ce_pins_match(peer->trust, peer->rule, evidence->chain, evidence->chain_count);
    ce_report_fill_chain(gates->trust, evidence);
    if (!connection || connection->report.chain_count != evidence->chain_count) return;
    for (unsigned i = 0; i < evidence->chain_count; i++) {
        const ce_chain_entry *entry = &connection->report.chain[i];
        if (memcmp(&entry->digests, &evidence->chain[i], sizeof entry->digests) == 0) gates->trust->chain[i] = *entry;
    }
}

static int judge_session(ce_transfer *transfer, SSL *ssl) {
    ce_run_gates *gates = &transfer->run.gates;
    const ce_run_request *request = &transfer->run.request;
    ce_peer peer = {transfer->handle.multi->trust, request->rule, request->host, request->host_is_address};
    ce_judgement found = ce_session_judge(ssl, &peer);
    if (found.verdict != CE_VERDICT_TRUSTED) {
        int result = distrust(transfer, found.verdict, found.text);
        if (gates->report && found.evidence) ce_report_fill_chain(gates->report, found.evidence);
        return result;
    }
    gates->verdict = CE_VERDICT_TRUSTED;
    gates->missed_pins = found.missed_pins;
    if (request->records_trust) record_trust(transfer, ssl, &found, &peer);
    if (found.missed_pins && (gates->report || (gates->report = calloc(1, sizeof *gates->report)))) {
        ce_report_fill_chain(gates->report, found.evidence);
    }
    return CURL_PREREQFUNC_OK;
}

// If a kept connection does not tunnel through the proxy, its TLS session with the proxy can be judged. Otherwise only
// the expiry of the proxy's rule can be checked.
static int judge_proxy(ce_transfer *transfer, const SSL *ssl) {
    const ce_run_request *request = &transfer->run.request;
    ce_trust *trust = transfer->handle.multi->proxy_trust;
    if (!request->proxy_is_secure || !trust) return CURL_PREREQFUNC_OK;
    ce_peer peer = {trust, request->proxy_rule, request->proxy_host, request->proxy_is_address};
    ce_judgement found = {CE_VERDICT_TRUSTED, "", NULL, false};
    if (!request->secure && !ssl) {
        found.verdict = CE_VERDICT_PLAINTEXT, found.text = "the connection is not encrypted";
    } else if (!request->secure) {
        found = ce_session_judge(ssl, &peer);
    } else if (ce_rule_refuses_now(trust, request->proxy_rule)) {
        found.verdict = CE_VERDICT_RULE_EXPIRED, found.text = CE_PINS_HAVE_EXPIRED;
    }
    if (found.verdict == CE_VERDICT_TRUSTED) return CURL_PREREQFUNC_OK;
    transfer->run.gates.blames_proxy = true;
    return distrust(transfer, found.verdict, found.text);
}

// Expired pins still require TLS for the host. Rules that only report do not refuse anything.
static bool wants_tls(const ce_transfer *transfer) {
    const ce_trust *trust = transfer->handle.multi->trust;
    if (transfer->run.request.rule >= trust->rule_count) return true;
    const ce_rule *rule = &trust->rules[transfer->run.request.rule];
    return rule->pin_count > 0 && !rule->report_only;
}

static void hold_carrier(ce_transfer *transfer, SSL *ssl) {
    ce_connection *connection = ce_connection_of(ssl);
    ce_transfer_leave_carrier(transfer);
    if (!connection) return;
    ce_connection_retain(connection);
    connection->carried++;
    transfer->run.gates.carrier = connection;
}

static bool negotiated_http2(const SSL *ssl) {
    const unsigned char *protocol = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &protocol, &size);
    return size == 2 && memcmp(protocol, "h2", 2) == 0;
}

// Whether the TLS layer of a kept connection holds application data or has ended. Session tickets and the like are
// consumed.
static bool holds_plaintext(SSL *ssl, int fd) {
    char byte;
    int error = SSL_ERROR_NONE;
    int count = ce_peek(ssl, fd, &byte, 1, &error);
    return count > 0 || error != SSL_ERROR_WANT_READ;
}

// The descriptor of the connection that libcurl has chosen, or -1 if it is not known.
static int connection_of(ce_transfer *transfer, const ce_route *route) {
    ce_loop *loop = transfer->handle.multi->loop;
    // The addresses of Unix sockets are empty. Each request opens a connection, and its socket is the only one.
    if (loop->settings.unix_socket) return transfer->run.opened - 1;
    int fd = ce_route_find(loop, route);
    // A request that libcurl sends again can be on a connection that another request has opened meanwhile. Over HTTP/1.1
    // a kept connection that is not known is stale.
    if (fd >= 0 || (!transfer->run.gates.speaks_http2 && ce_transfer_on_kept_connection(transfer))) return fd;
    return ce_route_learn(transfer, route);
}

// Excess bytes from a server would be taken for the response to the next request on the connection (response
// splitting). A request on a connection that the server has closed would be sent in vain.
static bool is_stale(const ce_transfer *transfer, SSL *ssl, int fd) {
    if (transfer->run.gates.speaks_http2 || transfer->handle.multi->loop->settings.unix_socket) return false;
    if (!ce_transfer_on_kept_connection(transfer)) return false;
    if (ssl && SSL_has_pending(ssl)) return true;
    if (fd < 0) return true;
    char byte;
    ssize_t count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (count <= 0 || !ssl) return true;
    // Two TLS layers, of a proxy and of the server, cannot be looked into.
    bool is_nested = transfer->run.request.secure && transfer->run.request.proxy_is_secure;
    return is_nested || holds_plaintext(ssl, fd);
}

// libcurl wants to send the request again. It may do so once, at once, if the server has refused the HTTP/2 stream. All
// other decisions are the engine's: see EssentialsCurl, WireEnding.swift.
static bool may_resend(ce_transfer *transfer, bool speaks_http2) {
    ce_run *run = &transfer->run;
    ce_resend cause = ce_endings_resend(transfer, speaks_http2);
    // A streamed body that has begun cannot be read again by libcurl. Without TLS, libcurl may speak HTTP/1.1 the second
    // time, which does not show here.
    bool may = cause == CE_RESEND_REFUSED && run->gates.carrier && run->request.resends_at_once &&
               run->refused_count == 0 && !run->send.has_begun && !ce_transfer_is_calmed(transfer);
    if (may) {
        run->refused_count++;
        run->sent_us = 0;
    } else {
        run->resend = cause;
    }
    return may;
}

int ce_request_gate(void *user, char *remote, char *local, int remote_port, int local_port) {
    ce_route route = {remote ? remote : "", local ? local : "", remote_port, local_port};
    ce_transfer *transfer = user;
    ce_run *run = &transfer->run;
    const ce_run_request *request = &run->request;
    ce_run_gates *gates = &run->gates;
    run->last_activity_ms = transfer->handle.multi->loop->now_ms;
    gates->request_gate_count++;
    SSL *ssl = ce_session_of(transfer);
    bool speaks_http2 = ssl && request->secure ? negotiated_http2(ssl) : request->http_version == CE_HTTP_2;
    if (run->send_count && !may_resend(transfer, speaks_http2)) return stop(transfer, CE_REFUSED_RESEND);
    gates->speaks_http2 = speaks_http2;
    int judged = judge_proxy(transfer, ssl);
    if (judged != CURL_PREREQFUNC_OK) return judged;
    if (request->secure) {
        if (!ssl) return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
        int result = judge_session(transfer, ssl);
        if (result != CURL_PREREQFUNC_OK) return result;
        ce_copy_text(gates->tls_version, sizeof gates->tls_version, SSL_get_version(ssl));
        ce_copy_text(gates->cipher, sizeof gates->cipher, SSL_get_cipher_name(ssl));
        if (request->http_version == CE_HTTP_2 && !gates->speaks_http2) return stop(transfer, CE_REFUSED_NOT_HTTP2);
        hold_carrier(transfer, ssl);
    } else if (wants_tls(transfer)) {
        return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
    }
    bool is_encrypted = request->secure || request->proxy_is_secure;
    int fd = connection_of(transfer, &route);
    if (is_stale(transfer, is_encrypted ? ssl : NULL, fd)) return stop(transfer, CE_REFUSED_STALE);
    ce_socket_carry(transfer, fd);
    run->send_count++;
    run->sent_on_kept = ce_transfer_on_kept_connection(transfer);
    run->sent_over_http2 = gates->speaks_http2;
    run->send.lent_offset = 0;
    if (speaks_http2) ce_endings_expect_stream(transfer);
    return CURL_PREREQFUNC_OK;
}
