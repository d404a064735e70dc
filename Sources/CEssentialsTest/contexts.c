// Contexts, whose settings are shared by the connections of a server or a client.
#include "internal.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

// MARK: Parts

// Converts lines to length-prefixed names for ALPN. Returns false if a name exceeds 255 bytes or memory runs out.
static bool set_protocols(cet_context *context, const char *protocols) {
    size_t size = strlen(protocols);
    if (!size) return true;
    context->protocols = malloc(size + 1);
    if (!context->protocols) return false;
    size_t used = 0;
    while (*protocols) {
        size_t length = strcspn(protocols, "\n");
        if (length > 255) return false;
        if (length) {
            context->protocols[used++] = (unsigned char)length;
            memcpy(context->protocols + used, protocols, length);
            used += length;
        }
        protocols += length + (protocols[length] == '\n');
    }
    context->protocols_size = (unsigned)used;
    return true;
}

static int choose_protocol(
    SSL *ssl, const unsigned char **chosen, unsigned char *chosen_size, const unsigned char *offered,
    unsigned offered_size, void *argument) {
    (void)ssl;
    const cet_context *context = argument;
    unsigned char *result = NULL;
    int outcome = SSL_select_next_proto(
        &result, chosen_size, context->protocols, context->protocols_size, offered, offered_size);
    if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
    *chosen = result;
    return SSL_TLSEXT_ERR_OK;
}

// Sets the leaf and exactly the given chain: OpenSSL must not complete or reorder it.
static bool set_identity(SSL_CTX *ssl, const char *chain_pem, const char *key_pem) {
    STACK_OF(X509) *chain = cet_parse_certificates(chain_pem);
    EVP_PKEY *key = chain ? cet_parse_key(key_pem) : NULL;
    bool set = false;
    if (key) {
        X509 *leaf = sk_X509_shift(chain);
        SSL_CTX_set_mode(ssl, SSL_MODE_NO_AUTO_CHAIN);
        set = SSL_CTX_use_certificate(ssl, leaf) == 1 && SSL_CTX_use_PrivateKey(ssl, key) == 1
            && SSL_CTX_set1_chain(ssl, chain) == 1;
        X509_free(leaf);
    }
    EVP_PKEY_free(key);
    sk_X509_pop_free(chain, X509_free);
    return set;
}

static bool set_anchors(SSL_CTX *ssl, const char *anchors_pem, bool name_them) {
    STACK_OF(X509) *anchors = cet_parse_certificates(anchors_pem);
    if (!anchors) return false;
    X509_STORE *store = SSL_CTX_get_cert_store(ssl);
    bool set = X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) == 1;
    for (int i = 0; set && i < sk_X509_num(anchors); i++) {
        X509 *anchor = sk_X509_value(anchors, i);
        set = X509_STORE_add_cert(store, anchor) == 1 && (!name_them || SSL_CTX_add_client_CA(ssl, anchor) == 1);
    }
    sk_X509_pop_free(anchors, X509_free);
    return set;
}

// A certificate that is requested but not required is recorded, whatever its issuer.
static int accept_any_peer(int verified, X509_STORE_CTX *store) {
    (void)verified, (void)store;
    return 1;
}

static void set_peer_rule(SSL_CTX *ssl, int rule) {
    if (rule == CET_PEER_ASKED) SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, accept_any_peer);
    if (rule == CET_PEER_REQUIRED) SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

static bool set_resumption(SSL_CTX *ssl, int resumption) {
    static const unsigned char name[] = "EssentialsTestKit";
    if (resumption == CET_RESUME_NEVER) {
        SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET);
        return SSL_CTX_set_num_tickets(ssl, 0) == 1;
    }
    if (resumption == CET_RESUME_IDENTIFIERS) SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_SERVER);
    return SSL_CTX_set_session_id_context(ssl, name, sizeof name - 1) == 1;
}

static bool set_versions(SSL_CTX *ssl, const cet_options *options) {
    // Tests check that the other side refuses old versions and short keys, so this side accepts them.
    SSL_CTX_set_security_level(ssl, 0);
    return SSL_CTX_set_cipher_list(ssl, "DEFAULT:@SECLEVEL=0") == 1
        && SSL_CTX_set_min_proto_version(ssl, options->minimum_version) == 1
        && SSL_CTX_set_max_proto_version(ssl, options->maximum_version) == 1;
}

// Called only for a client that requests a stapled response.
static int give_staple(SSL *ssl, void *argument) {
    const cet_context *context = argument;
    unsigned char *copy = OPENSSL_memdup(context->staple, context->staple_size);
    if (!copy) return SSL_TLSEXT_ERR_ALERT_FATAL;
    if (SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)context->staple_size) == 1) return SSL_TLSEXT_ERR_OK;
    OPENSSL_free(copy);
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// MARK: Contexts

static cet_context *make_context(const SSL_METHOD *method, const cet_options *options, cet_error *error) {
    cet_context *context = calloc(1, sizeof *context);
    if (context) context->ssl = SSL_CTX_new(method);
    if (context && context->ssl && set_versions(context->ssl, options)) return context;
    cet_fail(error, "making a TLS context");
    cet_context_free(context);
    return NULL;
}

cet_context *cet_server_context_create(
    const cet_options *options, const char *chain_pem, const char *key_pem, const char *anchors_pem,
    const char *protocols, cet_error *error) {
    cet_context *context = make_context(TLS_server_method(), options, error);
    if (!context) return NULL;
    bool made = true;
    if (!set_identity(context->ssl, chain_pem, key_pem)) {
        made = cet_fail(error, "using the server's certificate and key");
    } else if (anchors_pem && !set_anchors(context->ssl, anchors_pem, true)) {
        made = cet_fail(error, "using the anchors for client certificates");
    } else if (!set_protocols(context, protocols) || !set_resumption(context->ssl, options->resumption)) {
        made = cet_fail(error, "setting up ALPN or resumption");
    }
    if (!made) {
        cet_context_free(context);
        return NULL;
    }
    // A client that closes without close_notify must not lose its session. A server need not detect the truncation.
    SSL_CTX_set_options(context->ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
    set_peer_rule(context->ssl, options->peer_certificate);
    SSL_CTX_set_client_hello_cb(context->ssl, cet_note_server_name, NULL);
    if (context->protocols_size) SSL_CTX_set_alpn_select_cb(context->ssl, choose_protocol, context);
    return context;
}

cet_context *cet_client_context_create(
    const cet_options *options, const char *anchors_pem, const char *chain_pem, const char *key_pem,
    const char *protocols, cet_error *error) {
    cet_context *context = make_context(TLS_client_method(), options, error);
    if (!context) return NULL;
    bool made = true;
    if (anchors_pem && !set_anchors(context->ssl, anchors_pem, false)) {
        made = cet_fail(error, "using the client's anchors");
    } else if (chain_pem && key_pem && !set_identity(context->ssl, chain_pem, key_pem)) {
        made = cet_fail(error, "using the client's certificate and key");
    } else if (!set_protocols(context, protocols)) {
        made = cet_fail(error, "setting up ALPN");
    } else if (
        context->protocols_size
        && SSL_CTX_set_alpn_protos(context->ssl, context->protocols, context->protocols_size) != 0) {
        made = cet_fail(error, "setting up ALPN");
    }
    if (!made) {
        cet_context_free(context);
        return NULL;
    }
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER, NULL);
    return context;
}

bool cet_context_set_staple(cet_context *context, const uint8_t *staple, size_t size) {
    context->staple = malloc(size + 1);
    if (!context->staple) return false;
    memcpy(context->staple, staple, size);
    context->staple_size = size;
    SSL_CTX_set_tlsext_status_cb(context->ssl, give_staple);
    SSL_CTX_set_tlsext_status_arg(context->ssl, context);
    return true;
}

void cet_context_free(cet_context *context) {
    if (!context) return;
    SSL_CTX_free(context->ssl);
    free(context->protocols);
    free(context->staple);
    free(context);
}
