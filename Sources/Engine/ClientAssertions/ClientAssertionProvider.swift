public import Encoding

/// What a provider is asked: an assertion of which client, for whom, and on which install.
///
/// Source: SenseCrypt description, "Confidential clients and FAPI 2.0 tenants".
public struct ClientAssertionRequest: Sendable, Hashable {
    /// The client to speak for: the assertion's `iss` and `sub`.
    public let clientID: String
    /// The issuer: the assertion's `aud`, as one string.
    public let audience: String
    /// The RFC 7638 thumbprint of this install's DPoP key, to bind, log or rate-limit assertions by.
    public let dpopJkt: String

    /// Asks for an assertion.
    public init(clientID: String, audience: String, dpopJkt: String) {
        self.clientID = clientID
        self.audience = audience
        self.dpopJkt = dpopJkt
    }

    /// The request as commands and backends read it.
    public var json: JSON {
        ["client_id": .string(clientID), "audience": .string(audience), "dpop_jkt": .string(dpopJkt)]
    }
}

/// Whoever can speak for a confidential client: on a real phone, the app's backend.
public protocol ClientAssertionProvider: Sendable {
    /// What the provider is, in a word or two, such as `local key`.
    var kind: String { get }

    /// A fresh assertion, for one HTTP attempt.
    ///
    /// Asked again for every attempt, so that no `jti` goes out twice. Throws where none can be had; the attempt then
    /// counts as lost.
    func clientAssertion(for request: ClientAssertionRequest) async throws(ClientAssertionError) -> String
}

/// Why there is no assertion.
public enum ClientAssertionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// None can be had now; the details are for people and hold no secret.
    case unavailable(details: String)
    /// No client attestation, or no proof of its key, can be had now; the details are for people and hold no secret.
    case noAttestation(details: String)

    /// A stable name for this error, for reports and tests.
    public var code: String {
        switch self {
        case .unavailable: "client_assertion.unavailable"
        case .noAttestation: "client_attestation.unavailable"
        }
    }

    /// That there is none, and why.
    public var description: String {
        switch self {
        case .unavailable(let details): "no client assertion: \(details)"
        case .noAttestation(let details): "no client attestation: \(details)"
        }
    }
}

/// Text a provider gave, once it can stand in a form as an assertion.
struct GivenAssertion {
    /// Longer than any assertion a server reads.
    static let longest = 8192

    let compact: String

    /// Takes the text without blanks around it; `origin` names who gave it.
    ///
    /// Whether it is a good assertion is for the server to say: a phone does not look into it.
    init(_ bytes: [UInt8], from origin: String) throws(ClientAssertionError) {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let text = Array(bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
        guard !text.isEmpty else { throw .unavailable(details: "\(origin) gave nothing") }
        guard text.count <= Self.longest, text.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .unavailable(details: "\(origin) gave something that is no assertion")
        }
        compact = String(decoding: text, as: UTF8.self)
    }
}
