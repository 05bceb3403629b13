import COpenSSL

// Looking an algorithm up by name costs more than hashing a short message with it, so each is fetched
// once per process and kept. A fetched algorithm is immutable and reference-counted by OpenSSL, which
// is what makes these owners safe to share (`@unchecked` because the compiler sees only a pointer).

/// Owns one fetched digest.
final class FetchedDigest: @unchecked Sendable {
    static let sha256 = FetchedDigest("SHA256")
    static let sha384 = FetchedDigest("SHA384")
    static let sha512 = FetchedDigest("SHA512")

    let pointer: OpaquePointer

    private init(_ name: String) {
        pointer = require(EVP_MD_fetch(nil, name, nil), "EVP_MD_fetch")
    }

    deinit { EVP_MD_free(pointer) }

    /// Hashes `bytes` into `count` bytes, the digest's own length.
    func hash(_ bytes: UnsafeRawBufferPointer, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { output, filled in
            let start = bytes.baseAddress
            require(EVP_Digest(start, bytes.count, output.baseAddress, nil, pointer, nil), "EVP_Digest")
            filled = count
        }
    }
}

/// Owns one fetched cipher.
final class FetchedCipher: @unchecked Sendable {
    static let aes128GCM = FetchedCipher("AES-128-GCM")
    static let aes256GCM = FetchedCipher("AES-256-GCM")
    static let aes256Wrap = FetchedCipher("AES-256-WRAP")

    let pointer: OpaquePointer

    private init(_ name: String) {
        pointer = require(EVP_CIPHER_fetch(nil, name, nil), "EVP_CIPHER_fetch")
    }

    deinit { EVP_CIPHER_free(pointer) }
}

/// Owns one fetched key derivation.
final class FetchedKDF: @unchecked Sendable {
    static let hkdf = FetchedKDF("HKDF")

    let pointer: OpaquePointer

    private init(_ name: String) {
        pointer = require(EVP_KDF_fetch(nil, name, nil), "EVP_KDF_fetch")
    }

    deinit { EVP_KDF_free(pointer) }
}
