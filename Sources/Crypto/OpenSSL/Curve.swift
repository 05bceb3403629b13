import COpenSSL

/// Owns a group: P-256 or P-384, its curve, its base point and its order.
///
/// Shared; never changed once made.
final class Curve: @unchecked Sendable {
    static let p256 = Curve("P-256", NID_X9_62_prime256v1, byteCount: 32)
    static let p384 = Curve("P-384", NID_secp384r1, byteCount: 48)

    let pointer: OpaquePointer
    let name: String
    /// The bytes of a scalar, and of a coordinate.
    let byteCount: Int
    /// The order n, big-endian.
    let order: [UInt8]

    private init(_ name: String, _ number: Int32, byteCount: Int) {
        pointer = require(EC_GROUP_new_by_curve_name(number), "EC_GROUP_new_by_curve_name")
        let number = require(EC_GROUP_get0_order(pointer), "EC_GROUP_get0_order")
        var bytes = [UInt8](repeating: 0, count: byteCount)
        precondition(BN_bn2binpad(number, &bytes, Int32(byteCount)) == Int32(byteCount), "the order's length")
        order = bytes
        self.name = name
        self.byteCount = byteCount
    }

    deinit { EC_GROUP_free(pointer) }

    /// A key pair of a scalar, which must be in range, and its point.
    func keyPair(scalar: [UInt8]) throws(CryptoError) -> (point: [UInt8], key: AsymmetricKey) {
        let number = try BigNumber(scalar)
        let point = try multiplyBase(number)
        var littleEndian = [UInt8](scalar.reversed())
        defer { OPENSSL_cleanse(&littleEndian, littleEndian.count) }
        let key = try check(
            understudy_ec_key_pair(name, point, &littleEndian, byteCount), "EVP_PKEY_fromdata")
        return (point, AsymmetricKey(adopting: key))
    }

    /// The order as OpenSSL's own number, valid as long as this object.
    var orderNumber: OpaquePointer? { EC_GROUP_get0_order(pointer) }

    /// Whether big-endian bytes, as many as the order has, are a scalar: at least 1 and below the order.
    ///
    /// Which byte decides does not show in the time taken.
    func isScalar(_ bytes: [UInt8]) -> Bool {
        precondition(bytes.count == byteCount)
        var borrow = 0
        var anyBit: UInt8 = 0
        for index in stride(from: byteCount - 1, through: 0, by: -1) {
            borrow = (Int(bytes[index]) - Int(order[index]) - borrow) < 0 ? 1 : 0
            anyBit |= bytes[index]
        }
        return borrow == 1 && anyBit != 0
    }

    /// The uncompressed point that is `scalar` times the base point: 04, x, y.
    ///
    /// `scalar` must be in range.
    func multiplyBase(_ scalar: BigNumber) throws(CryptoError) -> [UInt8] {
        let point = try CurvePoint(self)
        let scratch = try BigNumberScratch()
        try check(
            EC_POINT_mul(pointer, point.pointer, scalar.pointer, nil, nil, scratch.pointer), "EC_POINT_mul")
        var bytes = [UInt8](repeating: 0, count: 2 * byteCount + 1)
        let written = EC_POINT_point2oct(
            pointer, point.pointer, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, scratch.pointer)
        guard written == bytes.count else { throw ErrorQueue.drain("EC_POINT_point2oct") }
        return bytes
    }
}

/// Owns one point.
final class CurvePoint {
    let pointer: OpaquePointer

    init(_ curve: Curve) throws(CryptoError) {
        pointer = try check(EC_POINT_new(curve.pointer), "EC_POINT_new")
    }

    deinit { EC_POINT_clear_free(pointer) }
}
