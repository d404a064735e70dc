#include "first_record.h"

#include "../base/first_bytes.h"

// OpenSSL calls this with the header of each record before it judges the header.
static void note(int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *user) {
    (void)version;
    ce_report *report = user;
    const unsigned char *first = bytes;
    if (is_sent) return;
    if (type == SSL3_RT_HEADER && report->spoken == CE_SPEAKS_NOTHING) {
        report->spoken = ce_first_bytes_judge(bytes, count);
    }
    // RFC 8446, 4: one byte for the type, three for the length, then the version.
    if (type == SSL3_RT_HANDSHAKE && count >= 6 && first[0] == SSL3_MT_SERVER_HELLO) {
        report->server_version = (first[4] << 8) | first[5];
        SSL_set_msg_callback(ssl, NULL);
    }
}

void ce_first_record_watch(SSL_CTX *ssl, ce_report *report) {
    report->minimum_tls = (int)SSL_CTX_get_min_proto_version(ssl);
    SSL_CTX_set_msg_callback(ssl, note);
    SSL_CTX_set_msg_callback_arg(ssl, report);
}
