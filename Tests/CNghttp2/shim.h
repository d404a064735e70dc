// The system library libnghttp2, which libcurl links too.
#include <nghttp2/nghttp2.h>
