// A TLS client that reads a server's certificates and closes the connection.
#include "../base/text.h"
#include "certificates.h"
#include "chain_verification.h"
#include "first_record.h"
#include "system_anchors.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct probe {
    ce_peer peer;
    ce_report *report;
} probe;

// Judges the chain for the report and lets the handshake continue: no application data is ever sent over it.
static int inspect(X509_STORE_CTX *context, void *user) {
    probe *p = user;
    STACK_OF(X509) *presented = X509_STORE_CTX_get0_untrusted(context);
    ce_verify(context, &p->peer, true, p->report);
    // Verification may have cut an untrusted chain short, so the presented certificates are listed instead.
    if (p->report->verdict != CE_VERDICT_TRUSTED && presented) {
        p->report->chain_count = 0;
        for (int i = 0; i < sk_X509_num(presented) && i < CE_CHAIN_MAXIMUM; i++) {
            if (!ce_entry_fill(&p->report->chain[i], sk_X509_value(presented, i))) break;
            p->report->chain_count++;
        }
    }
    X509_STORE_CTX_set_error(context, X509_V_OK);
    return 1;
}

static bool wait_for(int fd, short events, int64_t deadline) {
    for (;;) {
        int64_t left = deadline - ce_now_ms();
        if (left <= 0) return false;
        struct pollfd item = {.fd = fd, .events = events};
        int result = poll(&item, 1, (int)left);
        if (result > 0) return true;
        if (result < 0 && errno != EINTR) return false;
    }
}

static int connect_to(const char *address, uint16_t port, int64_t deadline) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    bool is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
    if (!is_six && inet_pton(AF_INET, address, &four.sin_addr) != 1) return -1;
    int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    const struct sockaddr *peer = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    int error = 0;
    socklen_t size = sizeof error;
    if (connect(fd, peer, is_six ? sizeof six : sizeof four) != 0 && errno != EINPROGRESS) error = errno;
    else if (!wait_for(fd, POLLOUT, deadline)) error = ETIMEDOUT;
    else getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return fd;
    close(fd);
    errno = error;
    return -1;
}

static ce_probe_result handshake(SSL *ssl, int fd, int64_t deadline) {
    for (;;) {
        ERR_clear_error();
        int result = SSL_connect(ssl);
        if (result == 1) return CE_PROBE_OK;
        int error = SSL_get_error(ssl, result);
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return CE_PROBE_TLS;
        if (!wait_for(fd, error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) return CE_PROBE_TIMEOUT;
    }
}

static ce_probe_result run(probe *p, int fd, int64_t deadline) {
    if (!ce_trust_load_anchors(p->peer.trust, p->report)) return CE_PROBE_TLS;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context) return CE_PROBE_MEMORY;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, inspect, p);
    ce_first_record_watch(context, p->report);
    ce_probe_result result = CE_PROBE_MEMORY;
    SSL *ssl = SSL_CTX_set1_verify_cert_store(context, p->peer.trust->store) == 1 ? SSL_new(context) : NULL;
    bool has_name = ssl && (p->peer.host_is_address || SSL_set_tlsext_host_name(ssl, p->peer.host) == 1);
    if (has_name && SSL_set_fd(ssl, fd) == 1) {
        result = handshake(ssl, fd, deadline);
        // A server that requires a client certificate closes the connection after it has sent its own certificates,
        // which is all that is needed.
        if (result == CE_PROBE_TLS && p->report->chain_count) result = CE_PROBE_OK;
        if (result == CE_PROBE_TLS) ce_openssl_text(p->report->text, "the server hung up during the TLS handshake");
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    return result;
}

ce_probe_result ce_probe(
    const char *host, const char *address, uint16_t port, ce_trust *trust, size_t rule, int timeout_ms,
    ce_report *report) {
    memset(report, 0, sizeof *report);
    int64_t deadline = ce_now_ms() + timeout_ms;
    struct in6_addr ignored;
    probe p = {.peer = {trust, rule, host, false}, .report = report};
    p.peer.host_is_address = inet_pton(AF_INET, host, &ignored) == 1 || inet_pton(AF_INET6, host, &ignored) == 1;
    int fd = connect_to(address, port, deadline);
    if (fd < 0) {
        bool late = errno == ETIMEDOUT;
        ce_copy_system_error(report->text, errno);
        return late ? CE_PROBE_TIMEOUT : CE_PROBE_CONNECT;
    }
    // OpenSSL writes with write(2). SIGPIPE must not end the process if the server has closed the connection.
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ce_probe_result result = run(&p, fd, deadline);
    close(fd);
    struct timespec none = {0, 0};
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) && !sigismember(&before, SIGPIPE)) {
        sigtimedwait(&pipe, NULL, &none);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}
