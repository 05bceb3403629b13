// What Swift cannot see of OpenSSL, or cannot do safely: macros, variadic functions, and arrays of
// OSSL_PARAM, whose names and values must stay where they are until the call is over.
#ifndef UNDERSTUDY_COPENSSL_SHIM_H
#define UNDERSTUDY_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

// OPENSSL_free is a macro that records file and line.
static inline void understudy_openssl_free(void *pointer) { OPENSSL_free(pointer); }

// Makes a key pair on the curve of this name, of its uncompressed point and its little-endian private scalar, which has
// `size` bytes as each coordinate has. NULL on failure.
static inline EVP_PKEY *understudy_ec_key_pair(
    const char *curve, const unsigned char *point, unsigned char *scalar, size_t size) {
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, 2 * size + 1),
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, scalar, size),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (context == NULL) return NULL;
    if (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, params) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

// Makes a P-256 public key that has no point yet. NULL on failure.
static inline EVP_PKEY *understudy_p256_blank(void) {
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"P-256", 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (context == NULL) return NULL;
    if (EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEY_PARAMETERS, params) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

// Makes an RSA public key of its modulus and exponent, both little-endian. NULL on failure.
static inline EVP_PKEY *understudy_rsa_key(
    unsigned char *modulus, size_t modulus_size, unsigned char *exponent, size_t exponent_size) {
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_N, modulus, modulus_size),
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_E, exponent, exponent_size),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    if (context == NULL) return NULL;
    if (EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

// Tells a MAC context to be HMAC with the digest of this name. 1 on success.
static inline int understudy_hmac_use_digest(EVP_MAC_CTX *context, const char *digest) {
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(context, params);
}

// HKDF with SHA-256, extract and expand. 1 on success.
static inline int understudy_hkdf_sha256(
    EVP_KDF_CTX *context, unsigned char *output, size_t output_size, const unsigned char *ikm, size_t ikm_size,
    const unsigned char *salt, size_t salt_size, const unsigned char *info, size_t info_size) {
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)ikm, ikm_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_size),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_derive(context, output, output_size, params);
}

// --- Certificates (Crypto) ---

// A name as RFC 2253 writes it, UTF-8 left as it is, NUL-terminated. Free with understudy_openssl_free. NULL on failure.
static inline char *understudy_name_text(const X509_NAME *name) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL) return NULL;
    char *text = NULL;
    if (X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0) {
        char *start = NULL;
        long count = BIO_get_mem_data(bio, &start);
        text = OPENSSL_malloc((size_t)count + 1);
        if (text != NULL) {
            memcpy(text, start, (size_t)count);
            text[count] = 0;
        }
    }
    BIO_free(bio);
    return text;
}

// The flags of a certificate's extensions that say it was not understood, or is an authority's.
static inline int understudy_certificate_is_invalid(X509 *certificate) {
    return (X509_get_extension_flags(certificate) & EXFLAG_INVALID) != 0;
}
static inline int understudy_certificate_has_constraints(X509 *certificate) {
    return (X509_get_extension_flags(certificate) & EXFLAG_BCONS) != 0;
}
static inline int understudy_certificate_is_authority(X509 *certificate) {
    uint32_t flags = X509_get_extension_flags(certificate);
    return (flags & EXFLAG_BCONS) != 0 && (flags & EXFLAG_CA) != 0;
}
static inline int understudy_certificate_has_key_usage(X509 *certificate) {
    return (X509_get_extension_flags(certificate) & EXFLAG_KUSAGE) != 0;
}

// --- TLS (Transport) ---

static inline int understudy_ssl_ctx_require_tls12(SSL_CTX *context) {
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// Idle connections give their record buffers back.
static inline void understudy_ssl_ctx_release_buffers(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static inline void understudy_ssl_ctx_no_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline int understudy_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline size_t understudy_bio_pending(BIO *bio) { return BIO_ctrl_pending(bio); }

// A memory BIO that says "try again" instead of "end" when it is empty.
static inline BIO *understudy_bio_memory(void) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio) BIO_set_mem_eof_return(bio, -1);
    return bio;
}

#endif
