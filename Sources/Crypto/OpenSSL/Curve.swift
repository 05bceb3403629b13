import COpenSSL

/// Owns the group P-256: the curve, its base point and its order.
///
/// Shared; never changed once made.
final class Curve: @unchecked Sendable {
    static let p256 = Curve()

    let pointer: OpaquePointer
    /// The order n as 32 big-endian bytes.
    let order: [UInt8]

    private init() {
        pointer = require(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), "EC_GROUP_new_by_curve_name")
        let number = require(EC_GROUP_get0_order(pointer), "EC_GROUP_get0_order")
        var bytes = [UInt8](repeating: 0, count: 32)
        precondition(BN_bn2binpad(number, &bytes, 32) == 32, "P-256's order has 32 bytes")
        order = bytes
    }

    deinit { EC_GROUP_free(pointer) }

    /// The order as OpenSSL's own number, valid as long as this object.
    var orderNumber: OpaquePointer? { EC_GROUP_get0_order(pointer) }

    /// Whether 32 big-endian bytes are a scalar: at least 1 and below the order.
    ///
    /// Which byte decides does not show in the time taken.
    func isScalar(_ bytes: [UInt8]) -> Bool {
        precondition(bytes.count == 32)
        var borrow = 0
        var anyBit: UInt8 = 0
        for index in stride(from: 31, through: 0, by: -1) {
            borrow = (Int(bytes[index]) - Int(order[index]) - borrow) < 0 ? 1 : 0
            anyBit |= bytes[index]
        }
        return borrow == 1 && anyBit != 0
    }

    /// The 65 bytes of `scalar` times the base point.
    ///
    /// `scalar` must be in range.
    func multiplyBase(_ scalar: BigNumber) throws(CryptoError) -> [UInt8] {
        let point = try CurvePoint(self)
        let scratch = try BigNumberScratch()
        try check(
            EC_POINT_mul(pointer, point.pointer, scalar.pointer, nil, nil, scratch.pointer), "EC_POINT_mul")
        var bytes = [UInt8](repeating: 0, count: 65)
        let written = EC_POINT_point2oct(
            pointer, point.pointer, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, scratch.pointer)
        guard written == 65 else { throw ErrorQueue.drain("EC_POINT_point2oct") }
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
