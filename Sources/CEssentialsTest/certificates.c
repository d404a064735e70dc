// Creates keys and certificates in memory.
#include "internal.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: Keys

char *cet_key_create(int rsa_bits, cet_error *error) {
    EVP_PKEY *key = rsa_bits > 0 ? EVP_RSA_gen((unsigned)rsa_bits) : EVP_EC_gen("P-256");
    BIO *bio = key ? BIO_new(BIO_s_mem()) : NULL;
    bool written = bio && PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1;
    EVP_PKEY_free(key);
    char *text = cet_take_text(bio);
    if (written && text) return text;
    free(text);
    cet_fail(error, "making a private key");
    return NULL;
}

// MARK: Extensions

static bool add_text_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, &context, kind, value);
    bool added = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static GENERAL_NAME *make_address(const char *text) {
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(text);
    GENERAL_NAME *name = address ? GENERAL_NAME_new() : NULL;
    if (!name) {
        ASN1_OCTET_STRING_free(address);
        return NULL;
    }
    GENERAL_NAME_set0_value(name, GEN_IPADD, address);
    return name;
}

static GENERAL_NAME *make_host(const char *text) {
    ASN1_IA5STRING *host = ASN1_IA5STRING_new();
    GENERAL_NAME *name = host && ASN1_STRING_set(host, text, -1) ? GENERAL_NAME_new() : NULL;
    if (!name) {
        ASN1_IA5STRING_free(host);
        return NULL;
    }
    GENERAL_NAME_set0_value(name, GEN_DNS, host);
    return name;
}

// Adds one line of the list. Returns false if it is neither a host nor an address.
static bool add_name(GENERAL_NAMES *all, const char *line) {
    GENERAL_NAME *name = NULL;
    if (strncmp(line, "DNS:", 4) == 0) name = make_host(line + 4);
    if (strncmp(line, "IP:", 3) == 0) name = make_address(line + 3);
    if (name && sk_GENERAL_NAME_push(all, name)) return true;
    GENERAL_NAME_free(name);
    return false;
}

static bool add_names(X509 *certificate, const char *names) {
    if (!*names) return true;
    char *copy = strdup(names);
    GENERAL_NAMES *all = copy ? sk_GENERAL_NAME_new_null() : NULL;
    bool usable = all != NULL;
    char *rest = NULL;
    for (char *line = usable ? strtok_r(copy, "\n", &rest) : NULL; line && usable; line = strtok_r(NULL, "\n", &rest)) {
        usable = add_name(all, line);
    }
    usable = usable && X509_add1_ext_i2d(certificate, NID_subject_alt_name, all, 0, X509V3_ADD_DEFAULT) == 1;
    sk_GENERAL_NAME_pop_free(all, GENERAL_NAME_free);
    free(copy);
    return usable;
}

static bool add_usages(X509 *certificate, int usages) {
    static const struct {
        int bit;
        const char *name;
    } all[] = {
        {CET_USAGE_SERVER, "serverAuth"},
        {CET_USAGE_CLIENT, "clientAuth"},
        {CET_USAGE_CODE_SIGNING, "codeSigning"},
        {CET_USAGE_OCSP_SIGNING, "OCSPSigning"},
    };
    char list[64] = "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(usages & all[i].bit)) continue;
        if (*list) strncat(list, ",", sizeof list - strlen(list) - 1);
        strncat(list, all[i].name, sizeof list - strlen(list) - 1);
    }
    return !*list || add_text_extension(certificate, certificate, NID_ext_key_usage, list);
}

static bool add_extensions(X509 *certificate, X509 *issuer, const cet_terms *terms, const char *names) {
    char constraints[48] = "critical,CA:FALSE";
    if (terms->is_authority && terms->path_length >= 0) {
        snprintf(constraints, sizeof constraints, "critical,CA:TRUE,pathlen:%d", terms->path_length);
    } else if (terms->is_authority) {
        snprintf(constraints, sizeof constraints, "critical,CA:TRUE");
    }
    const char *key_usage =
        terms->is_authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature,keyEncipherment";
    return add_text_extension(certificate, issuer, NID_basic_constraints, constraints)
        && add_text_extension(certificate, issuer, NID_key_usage, key_usage)
        && add_text_extension(certificate, issuer, NID_subject_key_identifier, "hash")
        && add_text_extension(certificate, issuer, NID_authority_key_identifier, "keyid")
        && add_usages(certificate, terms->usages) && add_names(certificate, names);
}

// MARK: Certificates

static bool set_serial(X509 *certificate) {
    unsigned char bytes[16];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
    bytes[0] = (bytes[0] & 0x7f) | 0x40; // positive and without leading zeros
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return set;
}

static bool set_time(ASN1_TIME *time, int64_t offset) {
    return X509_time_adj_ex(time, (int)(offset / 86400), (long)(offset % 86400), NULL) != NULL;
}

static bool set_subject(X509 *certificate, const char *common_name) {
    return X509_NAME_add_entry_by_txt(
               X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, (const unsigned char *)common_name, -1, -1, 0)
        == 1;
}

// Creates a certificate without extensions and signature.
static X509 *make_body(const cet_terms *terms, const char *common_name, EVP_PKEY *key, X509 *issuer) {
    X509 *certificate = X509_new();
    if (!certificate) return NULL;
    bool made = X509_set_version(certificate, 2) == 1 && set_serial(certificate)
        && set_time(X509_getm_notBefore(certificate), terms->not_before)
        && set_time(X509_getm_notAfter(certificate), terms->not_after) && set_subject(certificate, common_name)
        && X509_set_pubkey(certificate, key) == 1
        && X509_set_issuer_name(certificate, X509_get_subject_name(issuer ? issuer : certificate)) == 1;
    if (made) return certificate;
    X509_free(certificate);
    return NULL;
}

static char *write_certificate(X509 *certificate) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio && PEM_write_bio_X509(bio, certificate) != 1) {
        BIO_free(bio);
        return NULL;
    }
    return cet_take_text(bio);
}

char *cet_certificate_create(
    const cet_terms *terms, const char *common_name, const char *names, const char *key_pem, const char *issuer_pem,
    const char *issuer_key_pem, cet_error *error) {
    EVP_PKEY *key = cet_parse_key(key_pem);
    X509 *issuer = issuer_pem ? cet_parse_certificate(issuer_pem) : NULL;
    EVP_PKEY *issuer_key = issuer_key_pem ? cet_parse_key(issuer_key_pem) : NULL;
    X509 *certificate = NULL;
    char *text = NULL;
    if (!key || (issuer_pem && !issuer) || (issuer_key_pem && !issuer_key)) {
        cet_fail(error, "reading a key or the issuer");
    } else if (!(certificate = make_body(terms, common_name, key, issuer))) {
        cet_fail(error, "making a certificate");
    } else if (!add_extensions(certificate, issuer ? issuer : certificate, terms, names)) {
        cet_fail(error, "adding names or extensions to a certificate");
    } else if (X509_sign(certificate, issuer_key ? issuer_key : key, EVP_sha256()) <= 0) {
        cet_fail(error, "signing a certificate");
    } else if (!(text = write_certificate(certificate))) {
        cet_fail(error, "writing a certificate");
    }
    X509_free(certificate);
    EVP_PKEY_free(issuer_key);
    X509_free(issuer);
    EVP_PKEY_free(key);
    return text;
}

// MARK: Parts of a certificate

static int encode_part(X509 *certificate, cet_part part, unsigned char **bytes) {
    return part == CET_PART_PUBLIC_KEY ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), bytes)
                                       : i2d_X509(certificate, bytes);
}

uint8_t *cet_certificate_der(const char *pem, cet_part part, size_t *size) {
    X509 *certificate = cet_parse_certificate(pem);
    int length = certificate ? encode_part(certificate, part, NULL) : -1;
    unsigned char *bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (bytes) {
        unsigned char *end = bytes; // the encoder advances this pointer
        length = encode_part(certificate, part, &end);
        *size = length > 0 ? (size_t)length : 0;
    }
    X509_free(certificate);
    ERR_clear_error();
    return bytes;
}

bool cet_certificate_pin(const char *pem, cet_part part, char *pin) {
    size_t size = 0;
    uint8_t *bytes = cet_certificate_der(pem, part, &size);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned digest_size = 0;
    bool made = bytes && EVP_Digest(bytes, size, digest, &digest_size, EVP_sha256(), NULL) == 1;
    free(bytes);
    if (!made) return false;
    static const char prefix[] = "sha256/";
    memcpy(pin, prefix, sizeof prefix);
    // The prefix of 7 characters, 44 characters of Base64 and the terminating zero fit into CET_PIN_SIZE.
    EVP_EncodeBlock((unsigned char *)pin + sizeof prefix - 1, digest, (int)digest_size);
    return true;
}
