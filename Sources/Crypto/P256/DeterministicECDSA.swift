import COpenSSL

/// ECDSA over P-256 and SHA-256 with the nonce of RFC 6979, for runs that must repeat exactly.
///
/// OpenSSL 3.0 has no such mode (it accepts the parameter and ignores it), so the nonce is drawn here
/// and the signature equation of FIPS 186-4 6.4 is spelled out. Not constant time: test keys only.
enum DeterministicECDSA {
    static func sign(digest: [UInt8], scalar: [UInt8]) throws(CryptoError) -> [UInt8] {
        var nonces = try NonceSequence(digest: digest, scalar: scalar)
        while true {
            if let signature = try sign(digest: digest, scalar: scalar, nonce: nonces.next()) { return signature }
        }
    }

    /// r = x(kG) mod n and s = (e + rd)/k mod n; nil in the never-seen case that one of them is zero.
    private static func sign(
        digest: [UInt8], scalar: [UInt8], nonce: [UInt8]
    ) throws(CryptoError) -> [UInt8]? {
        let curve = Curve.p256
        let order = curve.orderNumber
        let scratch = try BigNumberScratch()
        let k = try BigNumber(nonce)
        let point = try curve.multiplyBase(k)

        let r = try BigNumber([UInt8](point[1...32]))
        try check(BN_nnmod(r.pointer, r.pointer, order, scratch.pointer), "BN_nnmod")
        let s = try BigNumber()
        let d = try BigNumber(scalar)
        let e = try BigNumber(digest)
        try check(BN_mod_mul(s.pointer, r.pointer, d.pointer, order, scratch.pointer), "BN_mod_mul")
        try check(BN_mod_add(s.pointer, s.pointer, e.pointer, order, scratch.pointer), "BN_mod_add")
        let inverse = try BigNumber()
        _ = try check(BN_mod_inverse(inverse.pointer, k.pointer, order, scratch.pointer), "BN_mod_inverse")
        try check(BN_mod_mul(s.pointer, s.pointer, inverse.pointer, order, scratch.pointer), "BN_mod_mul")
        guard !r.isZero, !s.isZero else { return nil }
        return try r.bytes(width: 32) + s.bytes(width: 32)
    }
}

/// The candidate nonces of RFC 6979 section 3.2, which for P-256 with SHA-256 are whole HMAC outputs.
private struct NonceSequence {
    private var key = [UInt8](repeating: 0, count: 32)
    private var value = [UInt8](repeating: 1, count: 32)

    init(digest: [UInt8], scalar: [UInt8]) throws(CryptoError) {
        // bits2octets: the digest as a number modulo the order. Both have 256 bits, so there is
        // nothing to shift.
        let reduced = try BigNumber(digest)
        let scratch = try BigNumberScratch()
        try check(BN_nnmod(reduced.pointer, reduced.pointer, Curve.p256.orderNumber, scratch.pointer), "BN_nnmod")
        let input = scalar + (try reduced.bytes(width: 32))
        update(0, input)
        update(1, input)
    }

    private mutating func update(_ separator: UInt8, _ input: [UInt8]) {
        key = HMAC.sha256(key: key, message: value + [separator] + input)
        value = HMAC.sha256(key: key, message: value)
    }

    mutating func next() -> [UInt8] {
        while true {
            value = HMAC.sha256(key: key, message: value)
            let candidate = value
            // Ready for the next candidate, should this one not do.
            defer { update(0, []) }
            if Curve.p256.isScalar(candidate) { return candidate }
        }
    }
}
