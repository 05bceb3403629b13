internal import Device
internal import Encoding
internal import OAuth
internal import Profiles

// The mismatch report (SenseCrypt wire, section 5), by which the server keeps its own count.

/// Waits for the signed report of a mismatch.
struct SigningReport: Codable, Sendable, Equatable {
    let check: FaceCheck
    var effect: EffectID
}

/// Waits for the answer to that report.
struct Reporting: Codable, Sendable, Equatable {
    let check: FaceCheck
    let jws: String
    var sending: Sending
}

extension SenseCryptSignIn {
    mutating func signReport(_ check: FaceCheck) -> [Effect] {
        let claims = check.session.claims(.attempt(number: check.mismatches), issuer: config.issuer)
        let effect = emit(.signCeremony(claims, key: check.session.ground.key))
        phase = .signingReport(SigningReport(check: check, effect: effect.id))
        return [effect]
    }

    mutating func signingReport(_ phase: SigningReport, _ event: Event) -> [Effect] {
        switch event {
        case .ceremonySigned(_, let jws): return sendReport(phase.check, jws, attempt: 1)
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.check.session)
        case .cancel: return fail(.cancelled, in: phase.check.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost, .captured,
            .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            return []
        }
    }

    /// A report that is sent again is the same JWS, which the server does not count twice.
    private mutating func sendReport(_ check: FaceCheck, _ jws: String, attempt: Int) -> [Effect] {
        let effect = emit(
            .call(
                .ceremony(
                    .attempt, attempt: attempt, url: check.session.endpoints.attempt, jws: jws, wire: config.wire)))
        phase = .reporting(
            Reporting(check: check, jws: jws, sending: Sending(effect: effect.id, attempt: attempt)))
        return [effect]
    }

    mutating func reporting(_ phase: Reporting, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .responded(_, let response): reported(phase, response, at: now)
        case .lost:
            phase.sending.attempt < 2
                ? sendReport(phase.check, phase.jws, attempt: phase.sending.attempt + 1)
                : goOnUnreported(phase.check)
        case .keyUnavailable: fail(.keyUnavailable, in: phase.check.session)
        case .cancel: fail(.cancelled, in: phase.check.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .ceremonySigned, .captured,
            .faceTokenOpened, .faceTokenNotOpened,
            .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            []
        }
    }

    private mutating func reported(_ phase: Reporting, _ response: CallResponse, at now: Instant) -> [Effect] {
        if response.trouble(at: now) != nil { return goOnUnreported(phase.check) }
        var check = phase.check
        do throws(AnswerError) {
            switch try CeremonyAnswer(response) {
            case .accepted(let members):
                let name = config.wire.members.attemptAnswer.attemptsLeft
                let answered = Int(try members.integer(name, in: 0...1000))
                check.attemptsLeft = min(check.attemptsLeft, answered)
                if check.attemptsLeft > 0 { return openCamera(check, after: .mismatch) }
                // The server is to agree that the session is over; where it does not, it is told so.
                return fail(.faceMismatch, in: check.session, aborting: answered > 0)
            case .refused(let error):
                let refusal = SignInFailure.refusal(of: .attempt, error, wire: config.wire)
                if check.attemptsLeft > 0 { return fail(refusal, in: check.session) }
                // The third mismatch stays one, whatever the server says about its session.
                return fail(.faceMismatch, in: check.session, aborting: refusal.abortsSession)
            }
        } catch {
            let message = "attempt report: \(error.description)"
            return check.attemptsLeft > 0
                ? fail(.server(message: message), in: check.session)
                : fail(.faceMismatch, in: check.session, aborting: true)
        }
    }

    /// A report that did not arrive costs nobody a scan: our own count holds, and the third mismatch still ends it.
    private mutating func goOnUnreported(_ check: FaceCheck) -> [Effect] {
        check.attemptsLeft > 0
            ? openCamera(check, after: .mismatch)
            : fail(.faceMismatch, in: check.session, aborting: true)
    }
}
