import COpenSSL

/// HMAC (RFC 2104) with SHA-256 or SHA-384.
public enum HMAC {
    /// The 32-byte code of `message` under `key`.
    ///
    /// A key may have any length, none included.
    public static func sha256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        code(MACContext.hmacSHA256(), key: key, message: message, count: 32)
    }

    /// The 48-byte code of `message` under `key`.
    ///
    /// A key may have any length, none included.
    public static func sha384(key: [UInt8], message: [UInt8]) -> [UInt8] {
        code(MACContext.hmacSHA384(), key: key, message: message, count: 48)
    }

    private static func code(_ context: MACContext, key: [UInt8], message: [UInt8], count: Int) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: count)
        var written = 0
        require(EVP_MAC_init(context.pointer, key, key.count, nil), "EVP_MAC_init")
        require(EVP_MAC_update(context.pointer, message, message.count), "EVP_MAC_update")
        require(EVP_MAC_final(context.pointer, &code, &written, code.count), "EVP_MAC_final")
        precondition(written == count)
        return code
    }

    /// Whether two codes are the same bytes, in a time that shows only their lengths.
    public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
