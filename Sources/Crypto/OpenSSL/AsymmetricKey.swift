import COpenSSL

/// Owns one `EVP_PKEY`, private or public.
///
/// A finished key is never changed, and OpenSSL lets any number of threads read one at once; each
/// operation makes its own context.
final class AsymmetricKey: @unchecked Sendable {
    /// P-256 itself, to be copied and given a point: three times as fast as naming the curve anew.
    static let p256WithoutPoint = AsymmetricKey(
        adopting: require(understudy_p256_blank(), "EVP_PKEY_fromdata"))

    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// A key of its own with the same content.
    func copy() throws(CryptoError) -> AsymmetricKey {
        AsymmetricKey(adopting: try check(EVP_PKEY_dup(pointer), "EVP_PKEY_dup"))
    }

    /// The named text of the key.
    func text(_ name: String) throws(CryptoError) -> String {
        var bytes = [CChar](repeating: 0, count: 64)
        var count = 0
        try check(
            EVP_PKEY_get_utf8_string_param(pointer, name, &bytes, bytes.count, &count),
            "EVP_PKEY_get_utf8_string_param")
        return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The named number of the key, big-endian: in `width` bytes, or in as few as it needs.
    func number(_ name: String, width: Int? = nil) throws(CryptoError) -> [UInt8] {
        var raw: OpaquePointer?
        try check(EVP_PKEY_get_bn_param(pointer, name, &raw), "EVP_PKEY_get_bn_param")
        let number = try BigNumber(adopting: raw)
        return try number.bytes(width: width)
    }
}
