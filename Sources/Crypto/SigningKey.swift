import COpenSSL
import Encoding

/// A private key of either type that clients sign with.
///
/// Its description shows nothing of it.
public enum SigningKey: Sendable {
    /// A key on P-256.
    case p256(P256.PrivateKey)
    /// An RSA key.
    case rsa(RSA.PrivateKey)

    /// The one unencrypted key in a DER file: PrivateKeyInfo (PKCS#8), ECPrivateKey (RFC 5915) or RSAPrivateKey
    /// (RFC 8017).
    ///
    /// Anything else, trailing bytes included, is `CryptoError.der`; another curve or kind of key is
    /// `CryptoError.keyKind`; small or impossible RSA numbers as in `RSA.PublicKey.init(n:e:)`.
    public init(der: [UInt8]) throws(CryptoError) {
        let parsed = der.withUnsafeBufferPointer { der -> OpaquePointer? in
            var next = der.baseAddress
            guard let key = d2i_AutoPrivateKey(nil, &next, der.count) else { return nil }
            guard next == der.baseAddress.map({ $0 + der.count }) else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
        guard let parsed else {
            ErrorQueue.clear()
            throw .der
        }
        try self.init(AsymmetricKey(adopting: parsed))
    }

    /// The first private key of a PEM text (RFC 7468); other blocks, such as curve parameters, are passed over.
    ///
    /// A text without one is `CryptoError.der`, an encrypted key `CryptoError.encryptedKey`.
    public init(pem: String) throws(CryptoError) {
        guard let block = PEM.blocks(in: pem).first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else { throw .der }
        guard block.label != "ENCRYPTED PRIVATE KEY", !block.hasHeaders else { throw .encryptedKey }
        do {
            try self.init(der: try Base64.decode(block.content))
        } catch let error as CryptoError {
            throw error
        } catch {
            throw .der
        }
    }

    private init(_ key: AsymmetricKey) throws(CryptoError) {
        if EVP_PKEY_is_a(key.pointer, "RSA") == 1 {
            self = .rsa(try RSA.PrivateKey(key))
        } else if EVP_PKEY_is_a(key.pointer, "EC") == 1 {
            guard try key.text(OSSL_PKEY_PARAM_GROUP_NAME) == "prime256v1" else { throw .keyKind }
            self = .p256(try P256.PrivateKey(scalar: try key.number(OSSL_PKEY_PARAM_PRIV_KEY, width: 32)))
        } else {
            throw .keyKind
        }
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is and nothing of its value.
    public var description: String {
        switch self {
        case .p256(let key): key.description
        case .rsa(let key): key.description
        }
    }
    /// Says what it is and nothing of its value.
    public var debugDescription: String { description }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
