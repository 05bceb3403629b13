import Crypto
import Encoding
import JOSE
import Synchronization

/// The private keys of an IdP: one on P-256 from the start, one of RSA once somebody wants it.
final class SigningKeys: Sendable {
    let es256: P256.PrivateKey
    private let es256ID: String
    private let signingNonce: P256.SigningNonce
    private let rsa: Mutex<RSA.PrivateKey?>
    /// Told of a key that was made, so that it is stored before anything it signed goes out.
    private let made: @Sendable (RecordChange) -> Void

    /// Keys from stored records; the one on P-256 is made where there is none.
    init(
        records: [RecordChange], entropy: Entropy, made: @escaping @Sendable (RecordChange) -> Void
    ) throws(CryptoError) {
        let stored = Dictionary(
            records.filter { $0.kind == .signingKey }.map { ($0.key, $0.value ?? []) }, uniquingKeysWith: { $1 })
        if let scalar = stored[UnsignedJWT.Algorithm.es256.rawValue] {
            es256 = try P256.PrivateKey(scalar: scalar)
        } else {
            es256 = try P256.PrivateKey.generate(entropy)
            let scalar = try es256.scalar
            made(RecordChange(kind: .signingKey, key: UnsignedJWT.Algorithm.es256.rawValue, value: scalar))
        }
        es256ID = JWK.p256(es256.publicKey).thumbprint
        signingNonce = entropy.signingNonce
        var key: RSA.PrivateKey?
        if let pkcs8 = stored[UnsignedJWT.Algorithm.rs256.rawValue] { key = try RSA.PrivateKey(pkcs8: pkcs8) }
        rsa = Mutex(key)
        self.made = made
    }

    /// Signs a token.
    func sign(_ token: UnsignedJWT) throws(CryptoError) -> String {
        let payload = JSON.object(token.claims).serialized()
        switch token.algorithm {
        case .es256:
            return try JWS.sign(
                header: header(token, keyID: es256ID), payload: payload, key: es256, nonce: signingNonce)
        case .rs256:
            let key = try rs256()
            let keyID = JWK.rsa(key.publicKey).thumbprint
            return try JWS.sign(header: header(token, keyID: keyID), payload: payload, key: key)
        }
    }

    /// The public halves.
    func keySet(withRSA: Bool) throws(CryptoError) -> JWKSet {
        var entries = [JWKSet.Entry(keyID: es256ID, key: .p256(es256.publicKey), algorithm: .es256)]
        if withRSA || rsa.withLock({ $0 != nil }) {
            let key = JWK.rsa(try rs256().publicKey)
            entries.append(JWKSet.Entry(keyID: key.thumbprint, key: key, algorithm: .rs256))
        }
        return JWKSet(entries)
    }

    /// The keys as records.
    func records() throws(CryptoError) -> [RecordChange] {
        var records = [
            RecordChange(kind: .signingKey, key: UnsignedJWT.Algorithm.es256.rawValue, value: try es256.scalar)
        ]
        if let key = rsa.withLock({ $0 }) {
            records.append(
                RecordChange(kind: .signingKey, key: UnsignedJWT.Algorithm.rs256.rawValue, value: try key.pkcs8))
        }
        return records
    }

    private func header(_ token: UnsignedJWT, keyID: String) -> JSONObject {
        JSONObject([
            ("typ", .string(token.type)), ("alg", .string(token.algorithm.rawValue)), ("kid", .string(keyID)),
        ])
    }

    /// The RSA key, made on first use: that takes a good part of a second.
    private func rs256() throws(CryptoError) -> RSA.PrivateKey {
        try rsa.withLock { (key: inout RSA.PrivateKey?) throws(CryptoError) in
            if let key { return key }
            let new = try RSA.PrivateKey.generate(bits: 2048)
            let pkcs8 = try new.pkcs8
            made(RecordChange(kind: .signingKey, key: UnsignedJWT.Algorithm.rs256.rawValue, value: pkcs8))
            key = new
            return new
        }
    }
}
