import Crypto
import Encoding

/// What a piece of evidence must be bound to: the request it came with.
struct EvidenceBinding: Sendable, Hashable {
    /// App Attest's clientDataHash: SHA-256 of the client data.
    let clientDataHash: [UInt8]
    /// Android's attestationChallenge.
    let attestationChallenge: [UInt8]
    /// Play Integrity's nonce.
    let nonce: String
    /// Play Integrity's requestHash.
    let requestHash: String
    /// The thumbprint of the key the request is about: the device key or the DPoP key.
    let keyThumbprint: String?

    /// Evidence of a start.
    static func start(challenge: String, clientID: String, codeChallenge: String, jkt: String) -> EvidenceBinding {
        EvidenceBinding(lines: ["sensecrypt start", challenge, clientID, codeChallenge, jkt], keyThumbprint: jkt)
    }

    /// Evidence of an enrolment.
    static func enrolment(challenge: String, kid: String) -> EvidenceBinding {
        EvidenceBinding(lines: ["sensecrypt enroll", challenge, kid], keyThumbprint: kid)
    }

    private init(lines: [String], keyThumbprint: String) {
        self.init(
            clientDataHash: SHA256.hash(Array(lines.joined(separator: "\n").utf8)), keyThumbprint: keyThumbprint)
    }

    /// Evidence bound to a hash in each format's way.
    init(clientDataHash hash: [UInt8], keyThumbprint: String? = nil) {
        let text = Base64URL.encode(hash)
        clientDataHash = hash
        attestationChallenge = hash
        requestHash = text
        nonce = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.keyThumbprint = keyThumbprint
    }

    /// Evidence bound to a challenge and nothing else: App Attest hashes it, the others have it as it is.
    init(challengeAlone challenge: String) {
        let bytes = Array(challenge.utf8)
        clientDataHash = SHA256.hash(bytes)
        attestationChallenge = bytes
        requestHash = challenge
        nonce = challenge
        keyThumbprint = nil
    }
}
