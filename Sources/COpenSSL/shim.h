// What Swift cannot see of OpenSSL: macros and variadic functions, and nothing else.
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

// OPENSSL_free is a macro that records file and line.
static inline void understudy_openssl_free(void *pointer) { OPENSSL_free(pointer); }

#endif
