import COpenSSL

/// ECDSA with the nonce of RFC 6979, for runs that must repeat exactly: P-256 or P-384, SHA-256 or SHA-384.
///
/// OpenSSL 3.0 has no such mode (it accepts the parameter and ignores it), so the nonce is drawn here
/// and the signature equation of FIPS 186-4 6.4 is spelled out. Not constant time: test keys only.
enum DeterministicECDSA {
    /// Signs a digest of 32 or 48 bytes, which says with which hash the nonce is drawn.
    static func sign(digest: [UInt8], scalar: [UInt8], curve: Curve) throws(CryptoError) -> [UInt8] {
        // bits2int: the first bits of the digest, as many as the order has; both are whole bytes here.
        let number = Array(digest.prefix(curve.byteCount))
        var nonces = try NonceSequence(digest: number, hashLength: digest.count, scalar: scalar, curve: curve)
        while true {
            let signature = try sign(number: number, scalar: scalar, nonce: nonces.next(), curve: curve)
            if let signature { return signature }
        }
    }

    /// r = x(kG) mod n and s = (e + rd)/k mod n; nil in the never-seen case that one of them is zero.
    private static func sign(
        number: [UInt8], scalar: [UInt8], nonce: [UInt8], curve: Curve
    ) throws(CryptoError) -> [UInt8]? {
        let order = curve.orderNumber
        let scratch = try BigNumberScratch()
        let k = try BigNumber(nonce)
        let point = try curve.multiplyBase(k)

        let r = try BigNumber([UInt8](point[1...curve.byteCount]))
        try check(BN_nnmod(r.pointer, r.pointer, order, scratch.pointer), "BN_nnmod")
        let s = try BigNumber()
        let d = try BigNumber(scalar)
        let e = try BigNumber(number)
        try check(BN_mod_mul(s.pointer, r.pointer, d.pointer, order, scratch.pointer), "BN_mod_mul")
        try check(BN_mod_add(s.pointer, s.pointer, e.pointer, order, scratch.pointer), "BN_mod_add")
        let inverse = try BigNumber()
        _ = try check(BN_mod_inverse(inverse.pointer, k.pointer, order, scratch.pointer), "BN_mod_inverse")
        try check(BN_mod_mul(s.pointer, s.pointer, inverse.pointer, order, scratch.pointer), "BN_mod_mul")
        guard !r.isZero, !s.isZero else { return nil }
        return try r.bytes(width: curve.byteCount) + s.bytes(width: curve.byteCount)
    }
}

/// The candidate nonces of RFC 6979 section 3.2.
private struct NonceSequence {
    private let curve: Curve
    private let hashLength: Int
    private var key: [UInt8]
    private var value: [UInt8]

    init(digest: [UInt8], hashLength: Int, scalar: [UInt8], curve: Curve) throws(CryptoError) {
        self.curve = curve
        self.hashLength = hashLength
        key = [UInt8](repeating: 0, count: hashLength)
        value = [UInt8](repeating: 1, count: hashLength)
        // bits2octets: the number modulo the order, as long as the order.
        let reduced = try BigNumber(digest)
        let scratch = try BigNumberScratch()
        try check(BN_nnmod(reduced.pointer, reduced.pointer, curve.orderNumber, scratch.pointer), "BN_nnmod")
        let input = scalar + (try reduced.bytes(width: curve.byteCount))
        update(0, input)
        update(1, input)
    }

    private func code(_ message: [UInt8]) -> [UInt8] {
        hashLength == SHA384.byteCount
            ? HMAC.sha384(key: key, message: message) : HMAC.sha256(key: key, message: message)
    }

    private mutating func update(_ separator: UInt8, _ input: [UInt8]) {
        key = code(value + [separator] + input)
        value = code(value)
    }

    mutating func next() -> [UInt8] {
        while true {
            var drawn: [UInt8] = []
            while drawn.count < curve.byteCount {
                value = code(value)
                drawn += value
            }
            // Ready for the next candidate, should this one not do.
            defer { update(0, []) }
            let candidate = Array(drawn.prefix(curve.byteCount))
            if curve.isScalar(candidate) { return candidate }
        }
    }
}

/// ECDSA as OpenSSL does it, with a nonce of the system's randomness.
enum RandomECDSA {
    /// Signs a digest: r and s, each as long as the curve's order.
    static func sign(digest: [UInt8], key: AsymmetricKey, curve: Curve) throws(CryptoError) -> [UInt8] {
        let context = try KeyContext(key)
        try check(EVP_PKEY_sign_init(context.pointer), "EVP_PKEY_sign_init")
        // The longest DER of two numbers: a sign byte and two of header each, and the outer header.
        var der = [UInt8](repeating: 0, count: 2 * (curve.byteCount + 3) + 3)
        var count = der.count
        try check(EVP_PKEY_sign(context.pointer, &der, &count, digest, digest.count), "EVP_PKEY_sign")
        der.removeSubrange(count...)
        let pair = try NumberPair(der: der)
        guard let raw = pair.raw(half: curve.byteCount) else { throw .der }
        return raw
    }
}
