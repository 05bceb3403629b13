import Encoding
import HTTP
import Profiles

/// The client a request says it comes from, and what it brings to prove it.
struct ClientClaim: Sendable {
    let id: String
    let credentials: ClientCredentials
    /// The word of an attester, where there is one; an extra that other clients' requests may carry too.
    let attestation: ClientAttestationInput

    /// Reads `client_id` and the client assertion of a form.
    ///
    /// Where there is an assertion, `client_id` may be left out: its `sub` says the same (RFC 7521 section 4.2).
    init(_ form: StrictForm, _ reading: Reading) throws(Refusal) {
        let named = try form.optional("client_id")
        let type = try form.optional("client_assertion_type")
        let compact = try form.optional("client_assertion", limit: reading.limits.jwsBytes)
        attestation = reading.clientAttestation()
        guard type != nil || compact != nil else {
            if let name = named ?? attestation.subject { id = name } else { id = try form.required("client_id") }
            credentials = .none
            return
        }
        try Self.refuseSecondMethod(form, reading)
        do throws(CredentialFault) {
            let assertion = try ClientAssertion(compact, type: type, of: named, reading)
            id = named ?? assertion.subject
            credentials = .assertion(assertion)
        } catch {
            id = try form.required("client_id")
            credentials = .unusable(error)
        }
    }

    /// RFC 6749 section 2.3: one method for each request.
    private static func refuseSecondMethod(_ form: StrictForm, _ reading: Reading) throws(Refusal) {
        let second =
            form.firstPresent(of: ["client_secret"])
            ?? (reading.context.request.fields.contains("Authorization") ? "Authorization" : nil)
        guard let second else { return }
        throw reading.malformed(
            "request.client_authentication", expected: "one method of client authentication",
            actual: "client_assertion with \(second)")
    }
}

extension ClientAttestationInput {
    /// The client it is about, where that is readable.
    var subject: String? {
        switch self {
        case .none: nil
        case .good(let attestation): attestation.subject
        case .bad(_, let subject): subject
        }
    }
}

/// What a client brings to prove who it is.
enum ClientCredentials: Sendable {
    case none
    /// A readable assertion; its signature was checked as far as its key is known.
    case assertion(ClientAssertion)
    /// Something that is no assertion, or not one of the profile.
    case unusable(CredentialFault)
}

/// What is wrong with a client assertion, as the finding will say it.
struct CredentialFault: Error, Sendable {
    let rule: String
    let expected: String
    let actual: String

    /// `rule` is the name of the member or claim at fault.
    init(_ rule: String, expected: String, actual: String) {
        self.rule = "client.assertion.\(rule)"
        self.expected = expected
        self.actual = Clipped.text(actual)
    }
}
