import COpenSSL

extension P256 {
    /// The two forms of an ECDSA signature: 64 raw bytes (JOSE), and DER (X.509, OpenSSL).
    ///
    /// Nothing here guesses: a caller knows which form it holds, and the other form is an error.
    public enum ECDSASignature {
        /// Turns 64 bytes of r and s into DER.
        ///
        /// Another length is `CryptoError.signatureLength`.
        public static func der(raw: [UInt8]) throws(CryptoError) -> [UInt8] {
            guard raw.count == 64 else { throw .signatureLength(raw.count) }
            let pair = try NumberPair(raw: raw)
            return try pair.der()
        }

        /// Turns DER into 64 bytes of r and s.
        ///
        /// BER leniencies, trailing bytes, negative numbers and numbers over 32 bytes are
        /// `CryptoError.der`.
        public static func raw(der: [UInt8]) throws(CryptoError) -> [UInt8] {
            let pair = try NumberPair(der: der)
            // OpenSSL's reader also takes forms that are not DER; the one true DER is what it would write.
            guard let raw = pair.raw(half: 32), try pair.der() == der else { throw .der }
            return raw
        }
    }
}

/// Owns one `ECDSA_SIG`: r and s.
final class NumberPair {
    private let pointer: OpaquePointer

    init(raw: [UInt8]) throws(CryptoError) {
        precondition(raw.count % 2 == 0)
        let half = raw.count / 2
        pointer = try check(ECDSA_SIG_new(), "ECDSA_SIG_new")
        let halves = raw.withUnsafeBufferPointer { raw in
            (
                BN_bin2bn(raw.baseAddress, Int32(half), nil),
                BN_bin2bn(raw.baseAddress.map { $0 + half }, Int32(half), nil)
            )
        }
        // From here the pair owns both numbers.
        guard halves.0 != nil, halves.1 != nil, ECDSA_SIG_set0(pointer, halves.0, halves.1) == 1 else {
            BN_free(halves.0)
            BN_free(halves.1)
            throw ErrorQueue.drain("ECDSA_SIG_set0")
        }
    }

    init(der: [UInt8]) throws(CryptoError) {
        let parsed = der.withUnsafeBufferPointer { der -> OpaquePointer? in
            var next = der.baseAddress
            return d2i_ECDSA_SIG(nil, &next, der.count)
        }
        guard let parsed else {
            ErrorQueue.clear()
            throw .der
        }
        pointer = parsed
    }

    deinit { ECDSA_SIG_free(pointer) }

    /// r and s in `half` bytes each; nil when one does not fit or is negative.
    func raw(half: Int) -> [UInt8]? {
        let r = ECDSA_SIG_get0_r(pointer)
        let s = ECDSA_SIG_get0_s(pointer)
        guard BN_is_negative(r) == 0, BN_is_negative(s) == 0 else { return nil }
        let width = Int32(half)
        let whole = [UInt8](unsafeUninitializedCapacity: 2 * half) { raw, filled in
            guard let start = raw.baseAddress, BN_bn2binpad(r, start, width) == width,
                BN_bn2binpad(s, start + half, width) == width
            else { return }
            filled = 2 * half
        }
        guard whole.count == 2 * half else {
            ErrorQueue.clear()
            return nil
        }
        return whole
    }

    func der() throws(CryptoError) -> [UInt8] {
        let count = i2d_ECDSA_SIG(pointer, nil)
        guard count > 0 else { throw ErrorQueue.drain("i2d_ECDSA_SIG") }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { der, filled in
            var next = der.baseAddress
            filled = Int(i2d_ECDSA_SIG(pointer, &next))
        }
    }
}
