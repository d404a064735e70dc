// The judgement of a finished handshake, including resumed sessions and pooled connections.
#ifndef CE_SESSION_GATE_H
#define CE_SESSION_GATE_H

#include "evidence.h"

typedef struct ce_judgement {
    ce_verdict verdict;
    const char *text;            // why it was refused
    const ce_evidence *evidence; // NULL if there is none
    bool missed_pins;            // of a rule that only reports
} ce_judgement;

// Judges a session by the evidence that the handshake gate attached to it.
ce_judgement ce_session_judge(const SSL *ssl, const ce_peer *peer);
// Copies the chain of the evidence into a report.
void ce_report_fill_chain(ce_report *report, const ce_evidence *evidence);

#endif
