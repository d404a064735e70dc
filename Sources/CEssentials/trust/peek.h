#ifndef CE_PEEK_H
#define CE_PEEK_H

#include <openssl/ssl.h>

// Reads decrypted bytes of a TLS session without taking them, as SSL_peek does. Returns their number; otherwise
// `*error` is the code of SSL_get_error.
//
// libcurl's own BIO needs the transfer that libcurl is working on. Outside its calls there is none, and an
// error of the socket would follow a null pointer. So the session uses the socket itself meanwhile. It must be the
// only TLS layer on that socket.
int ce_peek(SSL *ssl, int fd, void *bytes, int size, int *error);

#endif
