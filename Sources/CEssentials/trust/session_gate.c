#include "session_gate.h"

#include "../base/text.h"
#include "pins.h"

#include <string.h>
#include <time.h>

void ce_report_fill_chain(ce_report *report, const ce_evidence *evidence) {
    report->chain_count = evidence->chain_count;
    for (unsigned i = 0; i < evidence->chain_count; i++) report->chain[i].digests = evidence->chain[i];
}

ce_judgement ce_session_judge(const SSL *ssl, const ce_peer *peer) {
    const ce_evidence *evidence = ce_evidence_of(ssl);
    if (!evidence) return (ce_judgement){CE_VERDICT_EVIDENCE, "the session carries no proof of its peer", NULL, false};
    ce_judgement found = {CE_VERDICT_TRUSTED, "", evidence, false};
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
    ce_judgement found = ce_session_judge(ssl, &peer);
    report->verdict = found.verdict;
    report->missed_pins = found.missed_pins;
    ce_copy_text(report->text, CE_TEXT_SIZE, found.text);
    if (found.evidence) ce_report_fill_chain(report, found.evidence);
    return found.verdict == CE_VERDICT_TRUSTED;
}
