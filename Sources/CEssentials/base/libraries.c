// Initialisation and properties of libcurl and OpenSSL.
#include "CEssentials.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode initialised = CURLE_FAILED_INIT;
static char encodings[64], streamed_encodings[64];

// OpenSSL would free its state when the process exits, while an engine thread may still be closing connections. The
// process would crash instead of returning its exit code, so the cleanup is disabled; the system reclaims the memory.
// The first initialisation of OpenSSL in the process decides whether this option applies.
static void initialise(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    // These are the names that libcurl itself would send.
    int features = curl_version_info(CURLVERSION_NOW)->features;
    const char *zlib = features & CURL_VERSION_LIBZ ? ", deflate, gzip" : "";
    const char *brotli = features & CURL_VERSION_BROTLI ? ", br" : "";
    const char *zstd = features & CURL_VERSION_ZSTD ? ", zstd" : "";
    snprintf(encodings, sizeof encodings, "%s%s%s", zlib, brotli, zstd);
    if (!encodings[0]) snprintf(encodings, sizeof encodings, ", identity");
    snprintf(streamed_encodings, sizeof streamed_encodings, "%s%s", zlib, brotli);
    if (!streamed_encodings[0]) snprintf(streamed_encodings, sizeof streamed_encodings, ", identity");
}

const char *ce_accepted_encodings(bool streamed) {
    pthread_once(&once, initialise);
    return (streamed ? streamed_encodings : encodings) + strlen(", ");
}

ce_library_facts ce_libraries(void) {
    pthread_once(&once, initialise);
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    bool usable = initialised == CURLE_OK;
    return (ce_library_facts){
        .curl_version = info->version ? info->version : "",
        .tls_version = info->ssl_version && usable ? info->ssl_version : "",
        .curl_version_number = usable ? info->version_num : 0,
        .openssl_version_number = OpenSSL_version_num(),
        .http2 = (info->features & CURL_VERSION_HTTP2) != 0,
        .asynchronous_names = (info->features & CURL_VERSION_ASYNCHDNS) != 0,
    };
}
