internal import Encoding
internal import OAuth
internal import Profiles

// What the answers of all calls have in common.

/// A server that cannot serve now, whatever was asked.
enum ServerTrouble: Equatable {
    /// 429, with the seconds to wait when it said so.
    case rateLimited(Int64?)
    /// 500 or above.
    case unavailable(Int)

    /// The trouble as a sentence.
    var message: String { ParkCause(self).message }
}

extension ParkCause {
    /// Takes a server's trouble for the cause.
    init(_ trouble: ServerTrouble) {
        switch trouble {
        case .rateLimited(let seconds): self = .rateLimited(retryAfterSeconds: seconds)
        case .unavailable(let status): self = .server(status: status)
        }
    }
}

/// The answer to a device ceremony call.
enum CeremonyAnswer {
    /// 200 with these members.
    case accepted(AnswerMembers)
    /// 4xx with an `error`.
    case refused(OAuthErrorBody)

    /// Reads an answer; throws where it is neither.
    init(_ response: CallResponse) throws(AnswerError) {
        if response.status == 200 {
            self = .accepted(
                try AnswerMembers(status: response.status, mediaType: response.mediaType, body: response.body))
        } else {
            self = .refused(try OAuthErrorBody(refusal: response))
        }
    }
}

extension CallResponse {
    /// Whether the server cannot serve now.
    func trouble(at now: Instant) -> ServerTrouble? {
        if status == 429 { return .rateLimited(RetryAfter.seconds(retryAfter, at: now)) }
        return status >= 500 ? .unavailable(status) : nil
    }

    /// Why this `use_dpop_nonce` cannot be answered, or nil where it can: once for a call, with the nonce it brought.
    func brokenNonceChallenge(answeredBefore: Bool) -> String? {
        if answeredBefore { return "the server asked for a fresh DPoP nonce twice for one call" }
        return dpopNonce.flatMap { DPoPNonceField.nonce([$0]) } == nil
            ? "the server asked for a DPoP nonce and sent none" : nil
    }

    /// The grant this answer opened, if it did.
    var grant: IssuedGrant? { IssuedGrant(status: status, body: body) }
}

extension ChallengeAnswer {
    init(_ response: CallResponse) throws(AnswerError) {
        try self.init(status: response.status, mediaType: response.mediaType, body: response.body)
    }
}

extension OAuthErrorBody {
    /// Reads the body of a 4xx answer; throws for another status, or where it names no `error`.
    init(refusal response: CallResponse) throws(AnswerError) {
        let members = try AnswerMembers(
            status: response.status, mediaType: response.mediaType, body: response.body)
        guard (400...499).contains(response.status) else { throw .unexpectedStatus(response.status) }
        guard let body = OAuthErrorBody(members) else { throw .missing(member: "error") }
        self = body
    }
}

extension SignInFailure {
    /// What an `error` of a call means for the flow (SenseCrypt wire, sections 2 to 7).
    ///
    /// `unavailable` says why the phone could make no evidence about the app, if it could not.
    static func refusal(
        of purpose: Call.Purpose, _ error: OAuthErrorBody, wire: SignInWire, unavailable: String? = nil
    ) -> SignInFailure {
        switch error.code {
        case _ where wire.isAboutAttestation(error.code):
            let reason = unavailable.map { "; this phone made no evidence: \(DisplayText.shortened($0))" } ?? ""
            return .attestationFailed(message: "the \(purpose.rawValue) call was refused: \(error)\(reason)")
        case .unauthorizedClient, .invalidClient:
            return .notAllowed(message: "the server does not let this application sign in here: \(error)")
        case .invalidSession where purpose != .start: return .sessionExpired
        case OAuthErrorCode(rawValue: wire.faceTokenStale) where purpose == .completion: return .faceTokenStale
        case .accessDenied:
            // The ceremony calls refuse an unknown key, an inert session and a removed device with the same words.
            return purpose == .faceToken || purpose == .attempt
                ? .notEnrolled : .notAllowed(message: "the server does not let this user sign in here: \(error)")
        // Error codes are an open set.
        default: return .server(message: "the \(purpose.rawValue) call was refused: \(error)")
        }
    }

    /// A reply that was lost for good.
    static func network(lost call: String, _ detail: String) -> SignInFailure {
        .network(message: "no answer to the \(call): \(DisplayText.shortened(detail))")
    }
}

extension Call {
    /// A call to the device ceremony endpoint: no DPoP, no client authentication (SenseCrypt wire, section 2).
    static func ceremony(
        _ purpose: Purpose, attempt: Int, url: String, jws: String, wire: SignInWire, bestEffort: Bool = false
    ) -> Call {
        let body = JSONObject([(wire.members.ceremonyRequest.request, .string(jws))])
        return Call(
            purpose: purpose, attempt: attempt, url: url, body: .json(.object(body)), needsDPoP: false,
            bestEffort: bestEffort)
    }

    /// The same call, sent once more.
    func again() -> Call {
        Call(
            purpose: purpose, attempt: attempt + 1, url: url, body: body, needsDPoP: needsDPoP,
            bestEffort: bestEffort)
    }
}
