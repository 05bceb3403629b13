import COpenSSL

/// AES Key Wrap (RFC 3394) with a 32-byte key and the default initial value: one key inside another.
public enum AESKeyWrap {
    /// Wraps key material of 16, 24, … bytes: 8 bytes more come out.
    ///
    /// A `key` of another length than 32 is `CryptoError.keyLength`, other material `CryptoError.wrapLength`.
    public static func wrap(_ material: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard key.count == 32 else { throw .keyLength(key.count) }
        guard material.count >= 16, material.count % 8 == 0 else { throw .wrapLength(material.count) }
        let context = try context(key: key, encrypts: 1)
        // OpenSSL asks for room for a block more than it writes.
        var wrapped = [UInt8](repeating: 0, count: material.count + 16)
        var count: Int32 = 0
        try check(
            EVP_CipherUpdate(context.pointer, &wrapped, &count, material, Int32(material.count)), "EVP_CipherUpdate")
        precondition(Int(count) == material.count + 8, "a wrapped key is 8 bytes longer")
        return Array(wrapped.prefix(Int(count)))
    }

    /// Unwraps what `wrap` gave, or throws `CryptoError.notAuthentic` and gives nothing.
    ///
    /// A `key` of another length than 32 is `CryptoError.keyLength`, a wrapped key that is not 24, 32, … bytes long
    /// `CryptoError.wrapLength`.
    public static func unwrap(_ wrapped: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard key.count == 32 else { throw .keyLength(key.count) }
        guard wrapped.count >= 24, wrapped.count % 8 == 0 else { throw .wrapLength(wrapped.count) }
        let context = try context(key: key, encrypts: 0)
        var material = [UInt8](repeating: 0, count: wrapped.count + 16)
        var count: Int32 = 0
        guard EVP_CipherUpdate(context.pointer, &material, &count, wrapped, Int32(wrapped.count)) == 1,
            Int(count) == wrapped.count - 8
        else {
            ErrorQueue.clear()
            throw .notAuthentic
        }
        return Array(material.prefix(Int(count)))
    }

    private static func context(key: [UInt8], encrypts: Int32) throws(CryptoError) -> CipherContext {
        let context = CipherContext()
        EVP_CIPHER_CTX_set_flags(context.pointer, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        let cipher = FetchedCipher.aes256Wrap
        try check(
            EVP_CipherInit_ex2(context.pointer, cipher.pointer, key, nil, encrypts, nil), "EVP_CipherInit_ex2")
        return context
    }
}
