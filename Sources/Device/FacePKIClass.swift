/// A class of Face PKI keys: what they can do, and the algorithm they do it with.
///
/// The names are assumed; see `Profiles/sensecrypt.json5`.
public enum FacePKIClass: String, Codable, Sendable, Hashable, CaseIterable {
    /// Signs hashes: ECDSA over P-256.
    case ecdsa = "p256-ecdsa"
    /// Decapsulates shared secrets: DHKEM(P-256, HKDF-SHA256) of RFC 9180.
    case dhkem = "p256-dhkem"
}

/// Whose Face PKI keys are meant: every application has its own, and the tenant has some that allowed ones share.
public enum FacePKIOwner: Codable, Sendable, Hashable {
    /// The keys of one application, by its client id.
    case app(String)
    /// The keys every allowed application of a tenant shares, by the tenant's issuer.
    case tenant(String)

    /// The word and the name that go into a key's derivation.
    var parts: (word: String, name: String) {
        switch self {
        case .app(let clientID): ("app", clientID)
        case .tenant(let issuer): ("tenant", issuer)
        }
    }
}

/// What ECDSA over P-256 signs of an operand of 64 bytes, twice as many as it can bind.
public enum LongOperandRule: String, Codable, Sendable, Hashable, CaseIterable {
    /// Its first 32 bytes, as FIPS 186-4 6.4 has it: the last 32 are **not** protected.
    case leftmost
    /// The SHA-256 hash of all 64, so that every byte is protected; a verifier must hash them too.
    case sha256
}
