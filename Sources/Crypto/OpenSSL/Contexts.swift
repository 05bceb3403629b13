import COpenSSL

// A context is the state of one operation: made for it, used by one thread, freed with it.

/// Owns the context of one HMAC.
final class MACContext: @unchecked Sendable {
    // Contexts that know their digest and no key. They are only ever copied, never initialised, which saves looking
    // the digest up by name for each message.
    private static let sha256 = template("SHA256")
    private static let sha384 = template("SHA384")

    private static func template(_ digest: String) -> MACContext {
        let algorithm = require(EVP_MAC_fetch(nil, "HMAC", nil), "EVP_MAC_fetch")
        defer { EVP_MAC_free(algorithm) }
        let context = MACContext(adopting: require(EVP_MAC_CTX_new(algorithm), "EVP_MAC_CTX_new"))
        require(understudy_hmac_use_digest(context.pointer, digest), "EVP_MAC_CTX_set_params")
        return context
    }

    static func hmacSHA256() -> MACContext { copy(of: sha256) }
    static func hmacSHA384() -> MACContext { copy(of: sha384) }

    private static func copy(of template: MACContext) -> MACContext {
        MACContext(adopting: require(EVP_MAC_CTX_dup(template.pointer), "EVP_MAC_CTX_dup"))
    }

    let pointer: OpaquePointer

    private init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_MAC_CTX_free(pointer) }
}

/// Owns the context of one key derivation.
final class KDFContext {
    let pointer: OpaquePointer

    init(_ algorithm: FetchedKDF) {
        pointer = require(EVP_KDF_CTX_new(algorithm.pointer), "EVP_KDF_CTX_new")
    }

    deinit { EVP_KDF_CTX_free(pointer) }
}

/// Owns the context of one encryption or decryption.
final class CipherContext {
    let pointer: OpaquePointer

    init() { pointer = require(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new") }

    deinit { EVP_CIPHER_CTX_free(pointer) }
}

/// Owns the context of one operation with an asymmetric key.
final class KeyContext {
    let pointer: OpaquePointer

    /// For an operation with `key`.
    init(_ key: AsymmetricKey) throws(CryptoError) {
        pointer = try check(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new_from_pkey")
    }

    /// For making a key of the named type.
    init(making type: String) throws(CryptoError) {
        pointer = try check(EVP_PKEY_CTX_new_from_name(nil, type, nil), "EVP_PKEY_CTX_new_from_name")
    }

    deinit { EVP_PKEY_CTX_free(pointer) }
}
