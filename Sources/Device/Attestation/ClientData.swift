import Crypto

/// What a piece of evidence is bound to: a server's challenge, and the request it goes with.
public struct ClientData: Sendable, Hashable {
    /// The requests there is evidence with.
    public enum Request: Sendable, Hashable {
        /// The start of a sign-in, by its client, its PKCE challenge, and the thumbprint of its DPoP key.
        case start(clientID: String, codeChallenge: String, jkt: String)
        /// An enrolment, by the thumbprint of its device key.
        case enrolment(kid: String)
        /// None: the challenge alone, as somebody's own server may have it.
        case challengeOnly
    }

    /// The server's challenge, as given.
    public var challenge: String
    /// The request.
    public var request: Request

    /// Binds a challenge to a request.
    public init(challenge: String, request: Request) {
        self.challenge = challenge
        self.request = request
    }

    /// The client data of a start.
    public static func start(challenge: String, clientID: String, codeChallenge: String, jkt: String) -> ClientData {
        ClientData(
            challenge: challenge, request: .start(clientID: clientID, codeChallenge: codeChallenge, jkt: jkt))
    }

    /// The client data of an enrolment.
    public static func enrolment(challenge: String, kid: String) -> ClientData {
        ClientData(challenge: challenge, request: .enrolment(kid: kid))
    }

    /// The lines of section 14 of the wire, joined by LF; a challenge alone is itself.
    public var bytes: [UInt8] {
        let lines =
            switch request {
            case .start(let clientID, let codeChallenge, let jkt):
                ["sensecrypt start", challenge, clientID, codeChallenge, jkt]
            case .enrolment(let kid): ["sensecrypt enroll", challenge, kid]
            case .challengeOnly: [challenge]
            }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// SHA-256 of the bytes.
    public var digest: [UInt8] { SHA256.hash(bytes) }

    /// The same for another key's thumbprint; a challenge alone knows no key.
    func held(by thumbprint: String) -> ClientData {
        var other = self
        switch request {
        case .start(let clientID, let codeChallenge, _):
            other.request = .start(clientID: clientID, codeChallenge: codeChallenge, jkt: thumbprint)
        case .enrolment: other.request = .enrolment(kid: thumbprint)
        case .challengeOnly: break
        }
        return other
    }
}
