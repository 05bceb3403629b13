import Encoding
import HTTP
import OAuth
import SignIn

/// An answer of the server under test, as far as probes look at it.
struct Answer: Sendable {
    let response: HTTPResponse

    var status: Int { response.status }
    var json: JSON? { try? JSON(parsing: response.body) }
    var nonces: [String] { response.fields.values("DPoP-Nonce") }

    /// The challenge for evidence about the app that it brings.
    var attestationChallenge: String? {
        AttestationChallenge.challenge(response.fields.values(AttestationChallenge.field))
    }

    /// The error of the body, or of a challenge without one.
    var error: String? {
        if let error = json?["error"]?.string { return error }
        guard let challenge = response.fields["WWW-Authenticate"], let start = challenge.firstRange(of: "error=\"")
        else { return nil }
        return String(challenge[start.upperBound...].prefix { $0 != "\"" })
    }

    /// Whether what was asked for was done: a start answers 403, and yet opens a session.
    var isAccepted: Bool { status < 400 || (status == 403 && error == "insufficient_authorization") }

    /// Status and error; what came in the body besides may be secret.
    var summary: String {
        let text = error.map { "\(status) \($0)" } ?? "\(status)"
        return String(text.unicodeScalars.prefix(80).map { $0.value >= 0x20 && $0.isASCII ? Character($0) : "?" })
    }

    /// A text member of the body.
    func text(_ member: String) throws(ProbeFault) -> String {
        guard let text = json?[member]?.string else {
            throw .broken("the answer \(summary) has no \(member)")
        }
        return text
    }

    /// What the machine of a sign-in looks at.
    var call: CallResponse {
        CallResponse(
            status: response.status, mediaType: response.fields["Content-Type"],
            retryAfter: response.fields["Retry-After"], dpopNonce: nonces.first,
            attestationChallenge: attestationChallenge, body: response.body)
    }
}
