#include "first_bytes.h"

#include "text.h"

#include <string.h>

static bool begins(const char *bytes, const char *lower) {
    return ce_equals_ignoring_case(bytes, lower, strlen(lower));
}

ce_spoken ce_first_bytes_judge(const void *bytes, size_t count) {
    const char *first = bytes;
    if (count < 5) return CE_SPEAKS_UNKNOWN;
    // A handshake record or an alert of SSL 3 or TLS (RFC 8446, 5.1).
    if ((first[0] == 0x15 || first[0] == 0x16) && first[1] == 3) return CE_SPEAKS_TLS;
    if (begins(first, "http/") || begins(first, "<html") || begins(first, "<!doc")) return CE_SPEAKS_HTTP;
    if (begins(first, "ssh-")) return CE_SPEAKS_SSH;
    // The greetings of SMTP (RFC 5321, 4.2) and FTP, POP3 and IMAP.
    bool is_220 = begins(first, "220 ") || begins(first, "220-");
    if (is_220 || begins(first, "+ok ") || begins(first, "* ok ")) return CE_SPEAKS_MAIL;
    return CE_SPEAKS_UNKNOWN;
}
