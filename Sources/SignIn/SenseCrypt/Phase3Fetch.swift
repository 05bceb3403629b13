internal import Device
internal import Encoding
internal import OAuth
internal import Profiles

// Call 2: the face-token fetch, signed by the device key (SenseCrypt wire, section 4).

/// Waits for the signed request of call 2.
struct SigningFetch: Codable, Sendable, Equatable {
    let session: OpenSession
    let attempt: Int
    var effect: EffectID
}

/// Waits for the answer to call 2.
struct Fetching: Codable, Sendable, Equatable {
    let session: OpenSession
    var sending: Sending
}

extension SenseCryptSignIn {
    /// A fetch that is run again is signed again: on the same session, with its own `jti`.
    mutating func signFetch(_ session: OpenSession, attempt: Int) -> [Effect] {
        let claims = session.claims(.faceToken, issuer: config.issuer)
        let effect = emit(.signCeremony(claims, key: session.ground.key))
        phase = .signingFetch(SigningFetch(session: session, attempt: attempt, effect: effect.id))
        return [effect]
    }

    mutating func signingFetch(_ phase: SigningFetch, _ event: Event) -> [Effect] {
        switch event {
        case .ceremonySigned(_, let jws): return sendFetch(phase, jws)
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.session)
        case .cancel: return fail(.cancelled, in: phase.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost, .captured,
            .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            return []
        }
    }

    private mutating func sendFetch(_ phase: SigningFetch, _ jws: String) -> [Effect] {
        let call = Call.ceremony(
            .faceToken, attempt: phase.attempt, url: phase.session.endpoints.faceToken, jws: jws, wire: config.wire)
        let effect = emit(.call(call))
        self.phase = .fetching(
            Fetching(session: phase.session, sending: Sending(effect: effect.id, attempt: phase.attempt)))
        return [effect]
    }

    mutating func fetching(_ phase: Fetching, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .responded(_, let response): fetched(phase, response, at: now)
        case .lost(_, let detail):
            phase.sending.attempt < 2
                ? signFetch(phase.session, attempt: phase.sending.attempt + 1)
                : fail(.network(lost: "face-token fetch", detail), in: phase.session)
        case .keyUnavailable: fail(.keyUnavailable, in: phase.session)
        case .cancel: fail(.cancelled, in: phase.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .ceremonySigned, .captured,
            .faceTokenOpened, .faceTokenNotOpened,
            .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            []
        }
    }

    private mutating func fetched(_ phase: Fetching, _ response: CallResponse, at now: Instant) -> [Effect] {
        let session = phase.session
        if let trouble = response.trouble(at: now) {
            return fail(.server(message: "the face-token fetch: \(trouble.message)"), in: session)
        }
        do throws(AnswerError) {
            switch try CeremonyAnswer(response) {
            case .refused(let error): return fail(.refusal(of: .faceToken, error, wire: config.wire), in: session)
            case .accepted(let members): return try check(FaceTokenAnswer(members, config.wire.members), in: session)
            }
        } catch {
            return fail(.server(message: "face-token fetch: \(error.description)"), in: session)
        }
    }

    /// Everything that is refused before the scan is refused here, so that no camera opens for nothing.
    private mutating func check(_ answer: FaceTokenAnswer, in session: OpenSession) -> [Effect] {
        // A throwaway key that is let in is still no enrolment: there is no face to open this token with.
        guard case .enrolment = session.ground.key else { return fail(.notEnrolled, in: session) }
        guard !answer.isPasswordProtected else {
            return fail(
                .server(
                    message: "the account's face token is password-protected, and in-app sign-in has no password prompt"
                ), in: session)
        }
        let operation: PKIOperation?
        do throws(SignInFailure) {
            operation = try config.pki?.operation(config, answer.pki)
        } catch {
            return fail(error, in: session)
        }
        if let rule = answer.brokenFormat {
            return fail(.server(message: "the face token cannot be used: \(rule)"), in: session)
        }
        let check = FaceCheck(
            session: session, sealed: Base64URL.encode(answer.sealed), generation: answer.generation,
            operation: operation, seedClasses: config.pki == nil ? answer.pki.known : [],
            attemptsLeft: min(FaceCheck.mismatchBudget, answer.attemptsLeft))
        guard check.attemptsLeft > 0 else { return fail(.faceMismatch, in: session) }
        return openCamera(check, after: nil)
    }
}

/// The answer to call 2.
struct FaceTokenAnswer {
    let sealed: [UInt8]
    let generation: UInt32
    let isPasswordProtected: Bool
    let attemptsLeft: Int
    let pki: PKIOffer

    init(_ members: AnswerMembers, _ names: SenseCryptProfile.Members) throws(AnswerError) {
        let name = names.faceTokenAnswer
        sealed = try members.bytes(name.faceToken)
        // The greatest generation is left out, since the rotated token has to be the next one.
        generation = UInt32(try members.integer(name.generation, in: 1...Int64(UInt32.max) - 1))
        isPasswordProtected = try members.bool(name.passwordProtected)
        // Liveness is checked at every scan, whether the server requires it or not; the member must still be one.
        _ = try members.bool(name.livenessRequired)
        attemptsLeft = Int(try members.integer(name.attemptsLeft, in: 0...1000))
        pki = try PKIOffer(members, names)
    }

    /// The first rule of the face token's format these bytes break, or nil.
    ///
    /// What shows without a face is refused without asking for one: damage must not cost the person an attempt.
    var brokenFormat: String? {
        do {
            let written = try FaceToken.generation(of: sealed)
            return written == generation
                ? nil : "it is of generation \(written), and the answer says \(generation)"
        } catch { return error.description }
    }
}
