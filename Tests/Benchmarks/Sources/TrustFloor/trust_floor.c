#define _GNU_SOURCE
#include "trust_floor.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct trust_floor {
    X509_STORE *store;
    SSL_CTX *server;
};

static BIO *reader(const char *text) { return BIO_new_mem_buf(text, (int)strlen(text)); }

static X509 *certificate(const char *pem) {
    BIO *bio = reader(pem);
    X509 *read = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return read;
}

trust_floor *trust_floor_create(const char *anchor_pem, const char *certificate_pem, const char *key_pem) {
    trust_floor *floor = calloc(1, sizeof *floor);
    if (!floor) return NULL;
    X509 *anchor = certificate(anchor_pem), *leaf = certificate(certificate_pem);
    BIO *bio = reader(key_pem);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    floor->store = X509_STORE_new();
    floor->server = SSL_CTX_new(TLS_server_method());
    bool done = anchor && leaf && key && floor->store && floor->server && X509_STORE_add_cert(floor->store, anchor) == 1 &&
                SSL_CTX_use_certificate(floor->server, leaf) == 1 && SSL_CTX_use_PrivateKey(floor->server, key) == 1 &&
                SSL_CTX_add1_chain_cert(floor->server, anchor) == 1 && SSL_CTX_set_num_tickets(floor->server, 0) == 1;
    BIO_free(bio);
    EVP_PKEY_free(key);
    X509_free(anchor);
    X509_free(leaf);
    if (done) return floor;
    trust_floor_destroy(floor);
    return NULL;
}

void trust_floor_destroy(trust_floor *floor) {
    if (!floor) return;
    X509_STORE_free(floor->store);
    SSL_CTX_free(floor->server);
    free(floor);
}

void *trust_floor_client(trust_floor *floor, bool verifies) {
    SSL_CTX *client = SSL_CTX_new(TLS_client_method());
    if (client && verifies) {
        SSL_CTX_set1_cert_store(client, floor->store);
        SSL_CTX_set_verify(client, SSL_VERIFY_PEER, NULL);
    }
    return client;
}

void trust_floor_free_client(void *client) { SSL_CTX_free(client); }

void *trust_floor_handshake(trust_floor *floor, void *context, const char *host, bool verifies) {
    SSL *client = SSL_new(context), *server = SSL_new(floor->server);
    BIO *near = NULL, *far = NULL;
    bool ready = client && server && BIO_new_bio_pair(&near, 0, &far, 0) == 1 && SSL_set_tlsext_host_name(client, host) == 1 &&
                 (!verifies || SSL_set1_host(client, host) == 1);
    if (ready) {
        SSL_set_bio(client, near, near);
        SSL_set_bio(server, far, far);
        SSL_set_connect_state(client);
        SSL_set_accept_state(server);
        // A handshake takes two rounds. One that has not ended after ten never will.
        for (int i = 0; i < 10 && !(SSL_is_init_finished(client) && SSL_is_init_finished(server)); i++) {
            SSL_do_handshake(client);
            SSL_do_handshake(server);
        }
    }
    bool done = ready && SSL_is_init_finished(client) && SSL_is_init_finished(server);
    SSL_free(server);
    if (done) return client;
    SSL_free(client);
    return NULL;
}

void trust_floor_end(void *connection) { SSL_free(connection); }

long long trust_floor_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
