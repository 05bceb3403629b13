/// The `DPoP-Nonce` field of an answer (RFC 9449 section 8.1).
public enum DPoPNonceField {
    /// The longest nonce that is taken, in bytes.
    public static let limit = 1024

    /// The nonce of an answer, from all its `DPoP-Nonce` fields.
    ///
    /// Nil where there is none, more than one, or one that is no `1*NQCHAR`: a client then keeps what it has.
    public static func nonce(_ values: [String]) -> String? {
        guard values.count == 1, let value = values.first, (1...limit).contains(value.utf8.count) else { return nil }
        let isMade = value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        return isMade ? value : nil
    }
}
