#include "limit_client.h"

int main(int argc, char **argv) {
    return limit_client_main(argc, argv, "bench-limit-tuned", LIMIT_TUNED);
}
