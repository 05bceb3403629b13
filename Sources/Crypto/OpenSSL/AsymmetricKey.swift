import COpenSSL

/// Owns one `EVP_PKEY`, private or public.
///
/// A finished key is never changed, and OpenSSL lets any number of threads read one at once; each
/// operation makes its own context.
final class AsymmetricKey: @unchecked Sendable {
    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// The named number of the key, big-endian: in `width` bytes, or in as few as it needs.
    func number(_ name: String, width: Int? = nil) throws(CryptoError) -> [UInt8] {
        var raw: OpaquePointer?
        try check(EVP_PKEY_get_bn_param(pointer, name, &raw), "EVP_PKEY_get_bn_param")
        return try BigNumber(adopting: raw).bytes(width: width)
    }
}
