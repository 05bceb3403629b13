import COpenSSL

/// HKDF (RFC 5869) with SHA-256: keys of any length out of one secret.
public enum HKDF {
    /// Derives `length` bytes (0 to 8160) from the secret `ikm`, bound to `salt` and `info`.
    ///
    /// Another length is `CryptoError.outputLength`.
    public static func sha256(
        ikm: [UInt8], salt: [UInt8], info: [UInt8], length: Int
    ) throws(CryptoError) -> [UInt8] {
        guard (0...255 * 32).contains(length) else { throw .outputLength(length) }
        guard length > 0 else { return [] }
        let context = KDFContext(.hkdf)
        var output = [UInt8](repeating: 0, count: length)
        try check(
            understudy_hkdf_sha256(
                context.pointer, &output, length, ikm, ikm.count, salt, salt.count, info, info.count),
            "EVP_KDF_derive")
        return output
    }
}
