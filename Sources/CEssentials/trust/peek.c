#include "peek.h"

#include <openssl/bio.h>
#include <openssl/err.h>

int ce_peek(SSL *ssl, int fd, void *bytes, int size, int *error) {
    *error = SSL_ERROR_SYSCALL;
    BIO *reading = SSL_get_rbio(ssl), *writing = SSL_get_wbio(ssl);
    BIO *socket = reading && writing ? BIO_new_socket(fd, BIO_NOCLOSE) : NULL;
    if (!socket) return -1;
    // The session gives up a reference to what it replaces. It gets one to each of its two ends, and later those back.
    BIO_up_ref(reading);
    BIO_up_ref(writing);
    BIO_up_ref(socket);
    SSL_set0_rbio(ssl, socket);
    SSL_set0_wbio(ssl, socket);
    ERR_clear_error();
    int count = SSL_peek(ssl, bytes, size);
    *error = SSL_get_error(ssl, count);
    ERR_clear_error();
    SSL_set0_rbio(ssl, reading);
    SSL_set0_wbio(ssl, writing);
    return count;
}
