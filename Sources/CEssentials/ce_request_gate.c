// The second gate of a trust policy: it runs before a request's first byte. Pooled connections, resumed sessions and
// further HTTP/2 streams never see the first gate (ce_gates.c), so the evidence that it left on the session is judged
// again for each request. Here is also where a kept connection that is not fit for another request is found out.
#include "internal.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static int stop(ce_transfer *transfer, ce_refusal refusal) {
    if (transfer->refusal == CE_REFUSED_NOT) transfer->refusal = refusal;
    return CURL_PREREQFUNC_ABORT;
}

static int distrust(ce_transfer *transfer, ce_verdict verdict, const char *text) {
    transfer->verdict = verdict;
    if (!transfer->report) transfer->report = calloc(1, sizeof *transfer->report);
    if (transfer->report) {
        transfer->report->verdict = verdict;
        ce_copy_text(transfer->report->text, CE_TEXT_SIZE, text);
    }
    return stop(transfer, CE_REFUSED_TRUST);
}

static void fill_chain(ce_report *report, const ce_evidence *evidence) {
    report->chain_count = evidence->chain_count;
    for (unsigned i = 0; i < evidence->chain_count; i++) report->chain[i].digests = evidence->chain[i];
}

// What a finished handshake proved, judged for a peer.
typedef struct judgement {
    ce_verdict verdict;
    const char *text;
    const ce_evidence *evidence; // NULL without any
    bool missed_pins;            // of a rule that only reports
} judgement;

static judgement judge(const SSL *ssl, const ce_peer *peer) {
    const ce_evidence *evidence = ce_evidence_of(ssl);
    if (!evidence) return (judgement){CE_VERDICT_EVIDENCE, "the session carries no proof of its peer", NULL, false};
    judgement found = {CE_VERDICT_TRUSTED, "", evidence, false};
    ce_pin_outcome pins = ce_pins_judge(peer->trust, peer->rule, evidence->chain, evidence->chain_count);
    if (evidence->trust_identity != peer->trust->identity) {
        found.verdict = CE_VERDICT_OTHER_TRUST, found.text = "the session was made under another policy";
    } else if (strcmp(evidence->host, peer->host) != 0) {
        found.verdict = CE_VERDICT_PEER, found.text = "the session was made for another host";
    } else if (SSL_version(ssl) < peer->trust->minimum_tls) {
        found.verdict = CE_VERDICT_TLS_TOO_OLD, found.text = SSL_get_version(ssl);
    } else if (evidence->not_after < (int64_t)time(NULL)) {
        found.verdict = CE_VERDICT_EXPIRED, found.text = "a certificate of the session's chain has expired";
    } else if (pins == CE_PINS_MISSED) {
        found.verdict = CE_VERDICT_PINS, found.text = CE_NO_PIN_MATCHES;
    } else if (pins == CE_PINS_EXPIRED) {
        found.verdict = CE_VERDICT_RULE_EXPIRED, found.text = CE_PINS_HAVE_EXPIRED;
    }
    found.missed_pins = pins == CE_PINS_REPORTED;
    return found;
}

bool ce_trust_judge(ce_trust *trust, size_t rule, const char *host, void *ssl, ce_report *report) {
    ce_peer peer = {trust, rule, host, false};
    judgement found = judge(ssl, &peer);
    report->verdict = found.verdict;
    report->missed_pins = found.missed_pins;
    ce_copy_text(report->text, CE_TEXT_SIZE, found.text);
    if (found.evidence) fill_chain(report, found.evidence);
    return found.verdict == CE_VERDICT_TRUSTED;
}

static int judge_session(ce_transfer *transfer, SSL *ssl) {
    ce_peer peer = {transfer->multi->trust, transfer->rule, transfer->host, transfer->host_is_address};
    judgement found = judge(ssl, &peer);
    if (found.verdict != CE_VERDICT_TRUSTED) {
        int result = distrust(transfer, found.verdict, found.text);
        if (transfer->report && found.evidence) fill_chain(transfer->report, found.evidence);
        return result;
    }
    transfer->verdict = CE_VERDICT_TRUSTED;
    transfer->missed_pins = found.missed_pins;
    if (found.missed_pins && (transfer->report || (transfer->report = calloc(1, sizeof *transfer->report)))) {
        fill_chain(transfer->report, found.evidence);
    }
    return CURL_PREREQFUNC_OK;
}

// A kept connection's TLS to the proxy can be looked at where nothing is tunnelled through it; else only its rule can.
static int judge_proxy(ce_transfer *transfer, const SSL *ssl) {
    ce_trust *trust = transfer->multi->proxy_trust;
    if (!transfer->proxy_is_secure || !trust) return CURL_PREREQFUNC_OK;
    ce_peer peer = {trust, transfer->proxy_rule, transfer->proxy_host, transfer->proxy_is_address};
    judgement found = {CE_VERDICT_TRUSTED, "", NULL, false};
    if (!transfer->secure && !ssl) {
        found.verdict = CE_VERDICT_PLAINTEXT, found.text = "the connection is not encrypted";
    } else if (!transfer->secure) {
        found = judge(ssl, &peer);
    } else if (ce_rule_refuses_now(trust, transfer->proxy_rule)) {
        found.verdict = CE_VERDICT_RULE_EXPIRED, found.text = CE_PINS_HAVE_EXPIRED;
    }
    if (found.verdict == CE_VERDICT_TRUSTED) return CURL_PREREQFUNC_OK;
    transfer->blames_proxy = true;
    return distrust(transfer, found.verdict, found.text);
}

// Expired pins still mean that the host is spoken to over TLS; those that only report do not refuse anything.
static bool wants_tls(const ce_transfer *transfer) {
    const ce_trust *trust = transfer->multi->trust;
    if (transfer->rule >= trust->rule_count) return true;
    const ce_rule *rule = &trust->rules[transfer->rule];
    return rule->pin_count > 0 && !rule->report_only;
}

static void hold_carrier(ce_transfer *transfer, SSL *ssl) {
    ce_connection *connection = ce_connection_of(ssl);
    if (connection) ce_connection_retain(connection);
    ce_connection_release(transfer->carrier);
    transfer->carrier = connection;
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
    if (transfer->speaks_http2 || transfer->multi->loop->settings.unix_socket) return false;
    if (!ce_transfer_on_kept_connection(transfer)) {
        ce_route_learn(transfer, route);
        return false;
    }
    if (ssl && SSL_has_pending(ssl)) return true;
    int fd = ce_route_find(transfer->multi->loop, route);
    if (fd < 0) return true;
    char byte;
    ssize_t count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    return count <= 0 || !ssl || holds_plaintext(ssl);
}

int ce_request_gate(void *user, char *remote, char *local, int remote_port, int local_port) {
    ce_route route = {remote ? remote : "", local ? local : "", remote_port, local_port};
    ce_transfer *transfer = user;
    transfer->last_activity_ms = transfer->multi->loop->now_ms;
    transfer->gate_count++;
    // libcurl sends again, whatever the method, when a reused connection turns out dead. The server may have acted on
    // the first sending, so only an idempotent request goes out a second time, and nothing a third (RFC 9110, 9.2.2).
    if (transfer->send_count > (transfer->idempotent ? 1u : 0u)) return stop(transfer, CE_REFUSED_RESEND);
    // Nor does one that was answered already, or whose streamed body has begun: the beginning cannot be had again.
    if (transfer->send_count && (transfer->head_done || transfer->upload_begun)) return stop(transfer, CE_REFUSED_RESEND);
    struct curl_tlssessioninfo *info = NULL;
    SSL *ssl = NULL;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info &&
        info->backend == CURLSSLBACKEND_OPENSSL) {
        ssl = info->internals;
    }
    transfer->speaks_http2 = ssl && transfer->secure ? negotiated_http2(ssl) : transfer->http_version == CE_HTTP_2;
    int judged = judge_proxy(transfer, ssl);
    if (judged != CURL_PREREQFUNC_OK) return judged;
    if (transfer->secure) {
        if (!ssl) return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
        int result = judge_session(transfer, ssl);
        if (result != CURL_PREREQFUNC_OK) return result;
        ce_copy_text(transfer->tls_version, sizeof transfer->tls_version, SSL_get_version(ssl));
        ce_copy_text(transfer->cipher, sizeof transfer->cipher, SSL_get_cipher_name(ssl));
        if (transfer->http_version == CE_HTTP_2 && !transfer->speaks_http2) return stop(transfer, CE_REFUSED_NOT_HTTP2);
        hold_carrier(transfer, ssl);
    } else if (wants_tls(transfer)) {
        return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
    }
    // libcurl's own second sending has found out already that its connection is new.
    bool is_encrypted = transfer->secure || transfer->proxy_is_secure;
    if (is_stale(transfer, is_encrypted ? ssl : NULL, &route) && !transfer->send_count) {
        return stop(transfer, CE_REFUSED_STALE);
    }
    transfer->send_count++;
    transfer->lent_offset = 0;
    return CURL_PREREQFUNC_OK;
}
