// The system library OpenSSL 3, found through pkg-config.
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
