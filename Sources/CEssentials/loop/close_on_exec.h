// Multi handles whose descriptors are closed at exec(2).
#ifndef CE_CLOSE_ON_EXEC_H
#define CE_CLOSE_ON_EXEC_H

#include <curl/curl.h>

CURLM *ce_curl_multi_create(void);

#endif
