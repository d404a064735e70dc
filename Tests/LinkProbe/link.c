#include "link.h"

#include <limits.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

// MARK: Gates

// The index of the mark that the first gate leaves on a session.
static int mark_index(void) {
    static int index = -1;
    if (index < 0) index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    return index;
}

static bool has_pin(X509 *certificate, const char *pin) {
    if (!pin) return true;
    unsigned char *key = NULL;
    int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key);
    if (size <= 0) return false;
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    EVP_Digest(key, (size_t)size, hash, &count, EVP_sha256(), NULL);
    OPENSSL_free(key);
    char text[2 * EVP_MAX_MD_SIZE + 1];
    for (unsigned i = 0; i < count; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
    return strcmp(text, pin) == 0;
}

// Judges the chain during the handshake: anchors, name, pin. Nothing of ours has been sent by then.
static int first_gate(X509_STORE_CTX *chain, void *context) {
    link_state *link = context;
    link->first_asked++;
    SSL *ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    if (link->options.opens_first_gate) return 1;
    X509 *certificate = X509_STORE_CTX_get0_cert(chain);
    bool passes = X509_verify_cert(chain) == 1 && X509_check_host(certificate, link->options.host, 0, 0, NULL) == 1
        && has_pin(certificate, link->options.pin);
    if (passes) SSL_set_ex_data(ssl, mark_index(), link);
    if (!passes) link->first_refused++;
    return passes;
}

static CURLcode set_up_tls(CURL *easy, void *tls, void *context) {
    (void)easy;
    SSL_CTX_set_cert_verify_callback(tls, first_gate, context);
    // The caller's buffer may move between two attempts to write the same bytes.
    SSL_CTX_set_mode(tls, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE);
    return CURLE_OK;
}

// Demands the mark of the first gate before the connection is handed over.
static int second_gate(void *context, char *primary, char *local, int primary_port, int local_port) {
    (void)primary, (void)local, (void)primary_port, (void)local_port;
    link_state *link = context;
    link->second_asked++;
    if (!link->options.anchors) return CURL_PREREQFUNC_OK;
    struct curl_tlssessioninfo *session = NULL;
    curl_easy_getinfo(link->easy, CURLINFO_TLS_SSL_PTR, &session);
    SSL *ssl = session ? session->internals : NULL;
    if (ssl && SSL_get_ex_data(ssl, mark_index()) == link) return CURL_PREREQFUNC_OK;
    link->second_refused++;
    return CURL_PREREQFUNC_ABORT;
}

// MARK: Opening and closing

static void set_up(link_state *link) {
    CURL *easy = link->easy;
    const link_options *options = &link->options;
    const char *host = options->host ? options->host : "localhost";
    char text[300];
    snprintf(text, sizeof text, "%s://%s:%d/", options->anchors ? "https" : "http", host, options->port);
    curl_easy_setopt(easy, CURLOPT_URL, text);
    snprintf(text, sizeof text, "%s:%d:127.0.0.1", host, options->port);
    link->addresses = curl_slist_append(NULL, text);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, link->addresses);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, link->message);
    long age = options->max_age > 0 ? options->max_age : LONG_MAX / 1000;
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, age);
    curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, age);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, second_gate);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, link);
    if (options->unix_path) curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, options->unix_path);
    if (!options->anchors) return;
    curl_easy_setopt(easy, CURLOPT_CAINFO, options->anchors);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    // The first gate judges the name.
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_up_tls);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, link);
}

static bool read_result(link_state *link) {
    int left = 0;
    CURLMsg *message = curl_multi_info_read(link->multi, &left);
    if (!message || message->msg != CURLMSG_DONE) return false;
    link->result = message->data.result;
    return true;
}

void link_open(link_state *link, link_options options) {
    *link = (link_state){.options = options, .socket = CURL_SOCKET_BAD, .result = CURLE_OPERATION_TIMEDOUT};
    link->multi = options.multi ? options.multi : curl_multi_init();
    link->easy = curl_easy_init();
    set_up(link);
    curl_multi_add_handle(link->multi, link->easy);
    int64_t end = now_us() + 5000000;
    for (int running = 0; !read_result(link) && now_us() < end;) {
        curl_multi_perform(link->multi, &running);
        curl_multi_poll(link->multi, NULL, 0, 10, NULL);
    }
    if (link->result == CURLE_OK) curl_easy_getinfo(link->easy, CURLINFO_ACTIVESOCKET, &link->socket);
}

void link_close(link_state *link) {
    if (link->easy) {
        curl_multi_remove_handle(link->multi, link->easy);
        curl_easy_cleanup(link->easy);
    }
    if (link->multi && !link->options.multi) curl_multi_cleanup(link->multi);
    curl_slist_free_all(link->addresses);
    *link = (link_state){.socket = CURL_SOCKET_BAD};
}

// MARK: Bytes

bool link_wait(const link_state *link, bool is_for_writing, int milliseconds) {
    struct pollfd entry = {.fd = link->socket, .events = is_for_writing ? POLLOUT : POLLIN};
    return poll(&entry, 1, milliseconds) == 1;
}

bool link_send(link_state *link, const void *bytes, size_t size, int seconds) {
    int64_t end = now_us() + seconds * 1000000LL;
    while (size > 0 && now_us() < end) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(link->easy, bytes, size, &sent);
        if (code == CURLE_AGAIN) {
            link_wait(link, true, 100);
            continue;
        }
        if (code != CURLE_OK) return false;
        bytes = (const char *)bytes + sent;
        size -= sent;
    }
    return size == 0;
}

ssize_t link_read_all_there_is(link_state *link, char *bytes, size_t room) {
    size_t count = 0;
    while (count < room) {
        size_t read = 0;
        CURLcode code = curl_easy_recv(link->easy, bytes + count, room - count, &read);
        if (code == CURLE_AGAIN) break;
        if (code != CURLE_OK || read == 0) return count > 0 ? (ssize_t)count : -1;
        count += read;
    }
    return (ssize_t)count;
}
