// The system library libcurl, found through pkg-config.
#include <curl/curl.h>
