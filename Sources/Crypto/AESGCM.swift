import COpenSSL

/// AES-GCM (NIST SP 800-38D) with 12-byte nonces and 16-byte tags.
///
/// A nonce must never serve twice under one key.
public enum AESGCM {
    /// The number of bytes the tag adds to a plaintext.
    public static let tagByteCount = 16
    /// The number of bytes in a nonce.
    public static let nonceByteCount = 12

    /// Encrypts `plain` and binds it to `aad`: the ciphertext followed by its 16-byte tag.
    ///
    /// `key` has 16 or 32 bytes and `nonce` 12, or the error names the length.
    public static func seal(
        _ plain: [UInt8], key: [UInt8], nonce: [UInt8], aad: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let cipher = try cipher(key: key, nonce: nonce)
        let context = CipherContext()
        var sealed = [UInt8](repeating: 0, count: plain.count + tagByteCount)
        var count: Int32 = 0
        try check(EVP_EncryptInit_ex2(context.pointer, cipher.pointer, key, nonce, nil), "EVP_EncryptInit_ex2")
        try check(EVP_EncryptUpdate(context.pointer, nil, &count, aad, Int32(aad.count)), "EVP_EncryptUpdate")
        try check(EVP_EncryptUpdate(context.pointer, &sealed, &count, plain, Int32(plain.count)), "EVP_EncryptUpdate")
        // GCM writes nothing at the end; the pointer only has to be valid.
        var rest: Int32 = 0
        var none: UInt8 = 0
        try check(EVP_EncryptFinal_ex(context.pointer, &none, &rest), "EVP_EncryptFinal_ex")
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        try check(
            EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), &tag),
            "EVP_CTRL_AEAD_GET_TAG")
        sealed.replaceSubrange(plain.count..., with: tag)
        return sealed
    }

    /// Decrypts what `seal` gave, or throws `CryptoError.notAuthentic` and gives nothing.
    ///
    /// `key` has 16 or 32 bytes and `nonce` 12, or the error names the length.
    public static func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], aad: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let cipher = try cipher(key: key, nonce: nonce)
        guard sealed.count >= tagByteCount else { throw .notAuthentic }
        let context = CipherContext()
        let length = sealed.count - tagByteCount
        var tag = [UInt8](sealed.suffix(tagByteCount))
        var plain = [UInt8](repeating: 0, count: length)
        var count: Int32 = 0
        try check(EVP_DecryptInit_ex2(context.pointer, cipher.pointer, key, nonce, nil), "EVP_DecryptInit_ex2")
        try check(
            EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagByteCount), &tag),
            "EVP_CTRL_AEAD_SET_TAG")
        try check(EVP_DecryptUpdate(context.pointer, nil, &count, aad, Int32(aad.count)), "EVP_DecryptUpdate")
        try check(EVP_DecryptUpdate(context.pointer, &plain, &count, sealed, Int32(length)), "EVP_DecryptUpdate")
        var rest: Int32 = 0
        var none: UInt8 = 0
        guard EVP_DecryptFinal_ex(context.pointer, &none, &rest) == 1 else {
            ErrorQueue.clear()
            throw .notAuthentic
        }
        return plain
    }

    private static func cipher(key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> FetchedCipher {
        guard nonce.count == nonceByteCount else { throw .nonceLength(nonce.count) }
        switch key.count {
        case 16: return .aes128GCM
        case 32: return .aes256GCM
        default: throw .keyLength(key.count)
        }
    }
}
