import COpenSSL

extension RSA.PrivateKey {
    /// The key of its eight big-endian numbers, in the order n, e, d, p, q, dp, dq, qi (RFC 7518 section 6.3).
    ///
    /// Numbers that do not belong together are `CryptoError.rsaNumbers`; a small key as in `RSA.PublicKey.init(n:e:)`.
    public init(numbers: [[UInt8]]) throws(CryptoError) {
        precondition(numbers.count == 8, "an RSA private key has eight numbers here")
        let der = DER.sequence([DER.integer([0])] + numbers.map(DER.integer))
        guard case .rsa(let key)? = try? SigningKey(der: der) else { throw .rsaNumbers }
        // OpenSSL takes any numbers; only a signature tells that they belong together.
        let probe: [UInt8] = [1]
        guard let signature = try? key.sign(probe, padding: .pss),
            key.publicKey.verify(signature, of: probe, padding: .pss)
        else {
            ErrorQueue.clear()
            throw .rsaNumbers
        }
        self = key
    }
}

/// The little of DER that an RSA private key takes to write (RFC 8017 A.1.2).
private enum DER {
    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, Array(elements.joined())) }

    /// A number that is not negative, in as few bytes as it needs.
    static func integer(_ bigEndian: [UInt8]) -> [UInt8] {
        var bytes = Array(bigEndian.drop { $0 == 0 })
        if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
        return element(0x02, bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
