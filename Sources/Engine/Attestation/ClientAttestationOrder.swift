import Encoding
public import HTTP
public import JOSE

/// How a client authenticates by attestation, in a sign-in and with the session it leaves.
///
/// Source: draft-ietf-oauth-attestation-based-client-auth.
public struct ClientAttestationOrder: Sendable {
    /// How the instance proves that it holds its key.
    public enum Mode: String, Sendable, Hashable, Codable, CaseIterable {
        /// By a proof of its own in a field of its own; the instance has a key of its own.
        case normal
        /// By its DPoP proof: the attested key is the install's DPoP key.
        case combined
    }

    /// Who attests.
    public enum Attester: Sendable {
        /// The attester of the state directory's test roots.
        case testRoots
        /// A private key, and the `kid` it goes by: its own, or its thumbprint.
        case key(SigningKeyFile)
        /// A command for `/bin/sh -c`, which reads the request as JSON and prints the attestation.
        case command(String)
        /// An HTTP backend, which answers the request with `{"client_attestation": …}` or the bare text.
        case backend(HTTPURL)
    }

    /// How the instance proves that it holds its key.
    public var mode: Mode
    /// Who attests.
    public var attester: Attester
    /// What is wrong with it on purpose.
    public var defect: ClientAttestationDefect

    /// Describes how a client authenticates.
    public init(
        mode: Mode = .normal, attester: Attester = .testRoots, defect: ClientAttestationDefect = .none
    ) {
        self.mode = mode
        self.attester = attester
        self.defect = defect
    }
}

/// One thing wrong on purpose with a client's attestation or its proof, named as a script asks for it.
public enum ClientAttestationDefect: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing is wrong.
    case none
    /// The attestation has ended.
    case expiredAttestation
    /// The attestation is of another key than the one that signs.
    case otherKey
    /// The proof is for another server.
    case otherAudience
    /// The proof is the one of the call before.
    case replayedPoP
    /// The proof's challenge is one the server never gave, or gave out before its newest.
    case staleChallenge
    /// There is an attestation and no proof.
    case missingPoP

    /// Whether a mode has what is wrong: there is no proof of its own in combined mode.
    public func applies(to mode: ClientAttestationOrder.Mode) -> Bool {
        switch self {
        case .none, .expiredAttestation, .otherKey: true
        case .otherAudience, .replayedPoP, .staleChallenge, .missingPoP: mode == .normal
        }
    }
}

/// What an attester is asked: an attestation for which client, at which server, over which key.
struct AttesterRequest: Sendable {
    let clientID: String
    let issuer: String
    let instanceKey: JWK

    /// The request as commands and backends read it.
    var json: JSON {
        ["client_id": .string(clientID), "issuer": .string(issuer), "jwk": instanceKey.json]
    }
}
