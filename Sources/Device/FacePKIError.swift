public import Crypto

/// Why a Face PKI operation did not give a result.
public enum FacePKIError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The face token holds no seed of this class. One plain sign-in adds it.
    case keysNotReady(FacePKIClass)
    /// A context of more than 255 bytes.
    case contextLength(Int)
    /// A hash to sign that has neither 32 nor 64 bytes.
    case operandLength(Int)
    /// A cryptographic operation failed; for an encapsulation, because it is no point of the curve.
    case crypto(CryptoError)

    /// The stable dotted name of the rule.
    public var code: String {
        switch self {
        case .keysNotReady: "face_pki.keys_not_ready"
        case .contextLength: "face_pki.context_length"
        case .operandLength: "face_pki.operand_length"
        case .crypto: "face_pki.crypto"
        }
    }

    /// The rule and the value that broke it; never a key or a secret.
    public var description: String {
        switch self {
        case .keysNotReady(let name): "the face token holds no seed of class '\(name.rawValue)'"
        case .contextLength(let count):
            "a context has at most \(FacePKIKeys.longestContext) bytes, not \(count)"
        case .operandLength(let count): "a hash to sign has 32 or 64 bytes, not \(count)"
        case .crypto(let error): "the key operation failed: \(error)"
        }
    }
}
