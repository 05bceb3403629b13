import COpenSSL

/// Owns one `BIGNUM`, wiped when freed.
final class BigNumber {
    let pointer: OpaquePointer

    init() throws(CryptoError) {
        pointer = try check(BN_new(), "BN_new")
    }

    init(adopting pointer: OpaquePointer?) throws(CryptoError) {
        self.pointer = try check(pointer, "BIGNUM")
    }

    /// The number whose big-endian bytes these are.
    init(_ bytes: [UInt8]) throws(CryptoError) {
        pointer = try check(BN_bin2bn(bytes, Int32(bytes.count), nil), "BN_bin2bn")
    }

    deinit { BN_clear_free(pointer) }

    var bitCount: Int { Int(BN_num_bits(pointer)) }
    var isZero: Bool { BN_is_zero(pointer) == 1 }

    /// The big-endian bytes: exactly `width` of them, or as few as the number needs.
    func bytes(width: Int? = nil) throws(CryptoError) -> [UInt8] {
        let count = width ?? (bitCount + 7) / 8
        var bytes = [UInt8](repeating: 0, count: count)
        let written = BN_bn2binpad(pointer, &bytes, Int32(count))
        guard written == Int32(count) else { throw ErrorQueue.drain("BN_bn2binpad") }
        return bytes
    }
}

/// Owns the scratch space big-number arithmetic needs.
final class BigNumberScratch {
    let pointer: OpaquePointer

    init() throws(CryptoError) { pointer = try check(BN_CTX_new(), "BN_CTX_new") }

    deinit { BN_CTX_free(pointer) }
}
