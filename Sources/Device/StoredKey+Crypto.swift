public import Crypto
public import Encoding

/// Why a stored key cannot sign.
public enum KeyUnavailable: Error, Sendable, Hashable, CustomStringConvertible {
    /// The platform has withdrawn it: enrol again.
    case invalidated(KeyHandle)
    /// There is no key of that handle.
    case missing(KeyHandle)
    /// What is stored is no P-256 private key.
    case unreadable(KeyHandle)

    /// The stable dotted name of the rule.
    public var code: String {
        switch self {
        case .invalidated: "device.key.invalidated"
        case .missing: "device.key.missing"
        case .unreadable: "device.key.unreadable"
        }
    }

    /// Which key, and what is wrong with it.
    public var description: String {
        switch self {
        case .invalidated(let handle): "key \(handle) was invalidated by the platform"
        case .missing(let handle): "there is no key \(handle)"
        case .unreadable(let handle): "what is stored as key \(handle) is no P-256 private key"
        }
    }
}

extension StoredKey {
    /// Makes a new key under a handle of its own.
    ///
    /// Throws `CryptoError` when OpenSSL cannot make one.
    public static func generate(
        _ purpose: KeyPurpose, at now: Instant, entropy: Entropy
    ) throws(CryptoError) -> StoredKey {
        let key = try P256.PrivateKey.generate(entropy)
        let handle = KeyHandle(rawValue: "\(purpose.rawValue)-\(entropy.uuid())")
        return StoredKey(handle: handle, purpose: purpose, scalar: try key.scalar, createdAt: now)
    }

    /// The key for one signature.
    ///
    /// Throws `KeyUnavailable.invalidated` or `unreadable`.
    public func privateKey() throws(KeyUnavailable) -> P256.PrivateKey {
        guard !invalidated else { throw .invalidated(handle) }
        guard let key = try? P256.PrivateKey(scalar: scalar) else { throw .unreadable(handle) }
        return key
    }
}
