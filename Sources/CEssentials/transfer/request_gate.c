// The second gate of a trust policy: it runs before a request's first byte. Pooled connections, resumed sessions and
// further HTTP/2 streams never see the first gate (ce_gates.c), so the evidence that it left on the session is judged
// again for each request. Here is also where a kept connection that is not fit for another request is found out.
#include "request_gate.h"

#include "../base/text.h"
#include "../sockets/socket_lookup.h"
#include "../trust/pins.h"
#include "../trust/session_gate.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int stop(ce_transfer *transfer, ce_refusal refusal) {
    ce_transfer_refuse(transfer, refusal);
    return CURL_PREREQFUNC_ABORT;
}

static int distrust(ce_transfer *transfer, ce_verdict verdict, const char *text) {
    transfer->run.gates.verdict = verdict;
    if (!transfer->run.gates.report) transfer->run.gates.report = calloc(1, sizeof *transfer->run.gates.report);
    if (transfer->run.gates.report) {
        transfer->run.gates.report->verdict = verdict;
        ce_copy_text(transfer->run.gates.report->text, CE_TEXT_SIZE, text);
    }
    return stop(transfer, CE_REFUSED_TRUST);
}

static int judge_session(ce_transfer *transfer, SSL *ssl) {
    ce_peer peer = {transfer->handle.multi->trust, transfer->run.request.rule, transfer->run.request.host, transfer->run.request.host_is_address};
    ce_judgement found = ce_session_judge(ssl, &peer);
    if (found.verdict != CE_VERDICT_TRUSTED) {
        int result = distrust(transfer, found.verdict, found.text);
        if (transfer->run.gates.report && found.evidence) ce_report_fill_chain(transfer->run.gates.report, found.evidence);
        return result;
    }
    transfer->run.gates.verdict = CE_VERDICT_TRUSTED;
    transfer->run.gates.missed_pins = found.missed_pins;
    if (found.missed_pins && (transfer->run.gates.report || (transfer->run.gates.report = calloc(1, sizeof *transfer->run.gates.report)))) {
        ce_report_fill_chain(transfer->run.gates.report, found.evidence);
    }
    return CURL_PREREQFUNC_OK;
}

// A kept connection's TLS to the proxy can be looked at where nothing is tunnelled through it; else only its rule can.
static int judge_proxy(ce_transfer *transfer, const SSL *ssl) {
    ce_trust *trust = transfer->handle.multi->proxy_trust;
    if (!transfer->run.request.proxy_is_secure || !trust) return CURL_PREREQFUNC_OK;
    ce_peer peer = {trust, transfer->run.request.proxy_rule, transfer->run.request.proxy_host, transfer->run.request.proxy_is_address};
    ce_judgement found = {CE_VERDICT_TRUSTED, "", NULL, false};
    if (!transfer->run.request.secure && !ssl) {
        found.verdict = CE_VERDICT_PLAINTEXT, found.text = "the connection is not encrypted";
    } else if (!transfer->run.request.secure) {
        found = ce_session_judge(ssl, &peer);
    } else if (ce_rule_refuses_now(trust, transfer->run.request.proxy_rule)) {
        found.verdict = CE_VERDICT_RULE_EXPIRED, found.text = CE_PINS_HAVE_EXPIRED;
    }
    if (found.verdict == CE_VERDICT_TRUSTED) return CURL_PREREQFUNC_OK;
    transfer->run.gates.blames_proxy = true;
    return distrust(transfer, found.verdict, found.text);
}

// Expired pins still mean that the host is spoken to over TLS; those that only report do not refuse anything.
static bool wants_tls(const ce_transfer *transfer) {
    const ce_trust *trust = transfer->handle.multi->trust;
    if (transfer->run.request.rule >= trust->rule_count) return true;
    const ce_rule *rule = &trust->rules[transfer->run.request.rule];
    return rule->pin_count > 0 && !rule->report_only;
}

static void hold_carrier(ce_transfer *transfer, SSL *ssl) {
    ce_connection *connection = ce_connection_of(ssl);
    if (connection) ce_connection_retain(connection);
    ce_connection_release(transfer->run.gates.carrier);
    transfer->run.gates.carrier = connection;
}

static bool negotiated_http2(const SSL *ssl) {
    const unsigned char *protocol = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &protocol, &size);
    return size == 2 && memcmp(protocol, "h2", 2) == 0;
}

// Whether a kept connection's TLS layer holds application data, or its end; tickets and the like are read away.
static bool holds_plaintext(SSL *ssl) {
    char byte;
    ERR_clear_error();
    int count = SSL_peek(ssl, &byte, 1);
    bool is_empty = count <= 0 && SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ;
    ERR_clear_error();
    return !is_empty;
}

// A server that sends more than was asked for would have it taken for the answer to the next request on the connection
// (response splitting); one that has closed it would have that request sent for nothing.
static bool is_stale(ce_transfer *transfer, SSL *ssl, const ce_route *route) {
    if (transfer->run.gates.speaks_http2 || transfer->handle.multi->loop->settings.unix_socket) return false;
    if (!ce_transfer_on_kept_connection(transfer)) {
        ce_route_learn(transfer, route);
        return false;
    }
    if (ssl && SSL_has_pending(ssl)) return true;
    int fd = ce_route_find(transfer->handle.multi->loop, route);
    if (fd < 0) return true;
    char byte;
    ssize_t count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    return count <= 0 || !ssl || holds_plaintext(ssl);
}

int ce_request_gate(void *user, char *remote, char *local, int remote_port, int local_port) {
    ce_route route = {remote ? remote : "", local ? local : "", remote_port, local_port};
    ce_transfer *transfer = user;
    transfer->run.last_activity_ms = transfer->handle.multi->loop->now_ms;
    transfer->run.gates.request_gate_count++;
    // libcurl sends again, whatever the method, when a reused connection turns out dead. The server may have acted on
    // the first sending, so only an idempotent request goes out a second time, and nothing a third (RFC 9110, 9.2.2).
    if (transfer->run.send_count > (transfer->run.request.idempotent ? 1u : 0u)) return stop(transfer, CE_REFUSED_RESEND);
    // Nor does one that was answered already, or whose streamed body has begun: the beginning cannot be had again.
    if (transfer->run.send_count && (transfer->run.receive.head_done || transfer->run.send.has_begun)) return stop(transfer, CE_REFUSED_RESEND);
    struct curl_tlssessioninfo *info = NULL;
    SSL *ssl = NULL;
    if (curl_easy_getinfo(transfer->handle.easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info &&
        info->backend == CURLSSLBACKEND_OPENSSL) {
        ssl = info->internals;
    }
    transfer->run.gates.speaks_http2 = ssl && transfer->run.request.secure ? negotiated_http2(ssl) : transfer->run.request.http_version == CE_HTTP_2;
    int judged = judge_proxy(transfer, ssl);
    if (judged != CURL_PREREQFUNC_OK) return judged;
    if (transfer->run.request.secure) {
        if (!ssl) return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
        int result = judge_session(transfer, ssl);
        if (result != CURL_PREREQFUNC_OK) return result;
        ce_copy_text(transfer->run.gates.tls_version, sizeof transfer->run.gates.tls_version, SSL_get_version(ssl));
        ce_copy_text(transfer->run.gates.cipher, sizeof transfer->run.gates.cipher, SSL_get_cipher_name(ssl));
        if (transfer->run.request.http_version == CE_HTTP_2 && !transfer->run.gates.speaks_http2) return stop(transfer, CE_REFUSED_NOT_HTTP2);
        hold_carrier(transfer, ssl);
    } else if (wants_tls(transfer)) {
        return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
    }
    // libcurl's own second sending has found out already that its connection is new.
    bool is_encrypted = transfer->run.request.secure || transfer->run.request.proxy_is_secure;
    if (is_stale(transfer, is_encrypted ? ssl : NULL, &route) && !transfer->run.send_count) {
        return stop(transfer, CE_REFUSED_STALE);
    }
    transfer->run.send_count++;
    transfer->run.send.lent_offset = 0;
    return CURL_PREREQFUNC_OK;
}
