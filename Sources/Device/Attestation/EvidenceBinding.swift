public import Crypto
import Encoding
import JOSE

/// What a piece of evidence is bound to and whose keys it speaks of, after what is wrong on purpose.
struct EvidenceBinding {
    let format: EvidenceFormat
    /// The challenge that is said to be the server's.
    let challenge: String
    /// What stands for the client data in the evidence: their hash, or for a challenge alone whatever the format has.
    let bound: Bound
    /// The key that is attested, or that signs: App Attest's, or the subject of an Android chain.
    let key: Key
    /// The 32 bytes that are said to be the App Attest key's id.
    let keyID: [UInt8]
    /// A key nobody asked about, for what needs one.
    let stranger: P256.PrivateKey

    /// Client data, as the formats take them.
    enum Bound {
        /// 32 bytes, or the client data themselves where they stand unhashed.
        case bytes([UInt8])
        /// A text that goes into a Play Integrity request as it is.
        case text(String)
    }

    /// The key of the evidence.
    enum Key {
        case pair(P256.PrivateKey)
        case point(P256.PublicKey)
        /// Play Integrity speaks of none.
        case none
    }

    init(
        _ request: EvidenceRequest, keys: EvidenceKeys, defect: AttestationDefect, entropy: Entropy
    ) throws(AttestationError) {
        format = request.format
        do throws(CryptoError) {
            stranger = try P256.PrivateKey.generate(entropy.derived("stranger of \(request.clientData.challenge)"))
        } catch {
            throw .crypto(error)
        }
        let other = keys.other ?? stranger
        var claimed = request.clientData
        if defect == .staleChallenge { claimed.challenge = request.staleChallenge ?? entropy.token(33) }
        challenge = claimed.challenge
        var data = claimed
        if defect == .wrongChallenge { data.challenge = entropy.token(33) }
        if defect == .clonedDevice { data = data.held(by: JWK.p256(other.publicKey).thumbprint) }
        bound = try Self.bound(data, format, isRaw: defect == .rawChallenge)
        if defect == .clonedDevice, data.request == .challengeOnly, format.isPlayIntegrity {
            throw .noDifference(defect, format)
        }
        (key, keyID) = try Self.keys(keys, format, defect, other: other, stranger: stranger)
    }

    /// The longest challenge Android's key store takes, in bytes.
    private static let androidLimit = 128
    /// The lengths of a nonce Play Integrity takes, and the most of a request hash.
    private static let nonceLengths = 16...500

    private static func bound(
        _ data: ClientData, _ format: EvidenceFormat, isRaw: Bool
    ) throws(AttestationError) -> Bound {
        guard data.request == .challengeOnly else {
            let bytes = isRaw ? data.bytes : data.digest
            switch format {
            case .appAttest, .appAttestAssertion, .androidKey: return .bytes(bytes)
            case .playIntegrity: return .text(Base64URL.encode(bytes))
            case .playIntegrityClassic: return .text(padded(bytes))
            }
        }
        if format.isAppAttest { return .bytes(isRaw ? data.bytes : data.digest) }
        // These two take the challenge itself, so that it standing there is nothing wrong.
        guard !isRaw else { throw .noDifference(.rawChallenge, format) }
        if format == .androidKey {
            guard data.bytes.count <= androidLimit else { throw .challenge(format, rule: "has at most 128 bytes") }
            return .bytes(data.bytes)
        }
        if format == .playIntegrityClassic {
            let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=".utf8)
            guard nonceLengths.contains(data.bytes.count), data.bytes.allSatisfy({ alphabet.contains($0) }) else {
                throw .challenge(format, rule: "has 16 to 500 characters of base64url")
            }
        }
        guard (1...nonceLengths.upperBound).contains(data.bytes.count) else {
            throw .challenge(format, rule: "has 1 to 500 bytes")
        }
        return .text(data.challenge)
    }

    private static func padded(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    private static func keys(
        _ keys: EvidenceKeys, _ format: EvidenceFormat, _ defect: AttestationDefect, other: P256.PrivateKey,
        stranger: P256.PrivateKey
    ) throws(AttestationError) -> (Key, [UInt8]) {
        switch format {
        case .playIntegrity, .playIntegrityClassic: return (.none, [])
        case .androidKey:
            guard let subject = keys.subject else { throw .missingKey(format) }
            switch defect {
            case .wrongKey: return (.point(stranger.publicKey), [])
            case .clonedDevice: return (.point(other.publicKey), [])
            default: return (.point(subject), [])
            }
        case .appAttest, .appAttestAssertion:
            guard let own = keys.appAttest else { throw .missingKey(format) }
            let ownID = own.publicKey.appAttestKeyID
            switch defect {
            // An attestation's own key stays in the certificate; only the authenticator data name another.
            case .wrongKey: return (.pair(format == .appAttest ? own : stranger), ownID)
            case .clonedDevice:
                return (.pair(other), format == .appAttest ? ownID : other.publicKey.appAttestKeyID)
            default: return (.pair(own), ownID)
            }
        }
    }
}

extension P256.PublicKey {
    /// The name App Attest gives the key: SHA-256 of its point, 32 bytes.
    public var appAttestKeyID: [UInt8] { SHA256.hash(x963) }
}
