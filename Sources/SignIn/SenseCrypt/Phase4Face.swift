internal import Device
internal import Encoding

// The face: liveness, then match. A match is what opens the sealed face token.

/// Waits for the camera.
struct Capturing: Codable, Sendable, Equatable {
    let check: FaceCheck
    let lastOutcome: ScanReport?
    var effect: EffectID
}

/// Waits for the face token to open or not.
struct Matching: Codable, Sendable, Equatable {
    let check: FaceCheck
    var effect: EffectID
}

extension SenseCryptSignIn {
    mutating func openCamera(_ check: FaceCheck, after outcome: ScanReport?) -> [Effect] {
        var check = check
        check.captures += 1
        return askCamera(check, after: outcome)
    }

    /// Asks for the capture the check stands at; asking again after a restart does not make it another capture.
    mutating func askCamera(_ check: FaceCheck, after outcome: ScanReport?) -> [Effect] {
        let effect = emit(.capture(number: check.captures))
        phase = .capturing(Capturing(check: check, lastOutcome: outcome, effect: effect.id))
        return [effect]
    }

    mutating func capturing(_ phase: Capturing, _ event: Event) -> [Effect] {
        switch event {
        case .captured(_, .live(let sample)): return match(phase.check, sample)
        case .captured(_, .livenessFailed(let reason)):
            return lookAgain(phase.check, after: .livenessFailed(reason: reason))
        case .captured(_, .badCapture(let fault)): return lookAgain(phase.check, after: .badCapture(fault))
        case .captured(_, .closed): return fail(phase.lastOutcome.whenClosed, in: phase.check.session)
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.check.session)
        case .cancel: return fail(.cancelled, in: phase.check.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost,
            .ceremonySigned, .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            return []
        }
    }

    /// Opens the camera again at no cost, unless nobody seems to be there any more.
    private mutating func lookAgain(_ check: FaceCheck, after outcome: ScanReport) -> [Effect] {
        var check = check
        check.fruitless += 1
        guard check.fruitless < FaceCheck.captureLimit else {
            return fail(Optional(outcome).whenClosed, in: check.session)
        }
        return openCamera(check, after: outcome)
    }

    private mutating func match(_ check: FaceCheck, _ sample: SampleID) -> [Effect] {
        guard let sealed = try? Base64URL.decode(check.sealed) else {
            preconditionFailure("the machine encoded the sealed face token itself")
        }
        var check = check
        check.fruitless = 0
        let effect = emit(.openFaceToken(sealed: sealed, sample: sample))
        phase = .matching(Matching(check: check, effect: effect.id))
        return [effect]
    }

    mutating func matching(_ phase: Matching, _ event: Event) -> [Effect] {
        switch event {
        case .faceTokenOpened: return matched(phase.check)
        case .faceTokenNotOpened: return mismatched(phase.check)
        case .faceTokenUnusable(_, let rule):
            return fail(.server(message: "the face token: \(rule)"), in: phase.check.session)
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.check.session)
        case .cancel: return fail(.cancelled, in: phase.check.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost,
            .ceremonySigned, .captured, .pkiRan,
            .pkiKeysNotReady, .faceTokenRotated, .committed, .retry:
            return []
        }
    }

    /// Counts the mismatch here first; the report tells the server to count it too.
    private mutating func mismatched(_ check: FaceCheck) -> [Effect] {
        var check = check
        check.mismatches += 1
        check.attemptsLeft -= 1
        return signReport(check)
    }
}

extension ScanReport? {
    /// What a capture that closes now means: right after a failed liveness check the person has given up on it.
    fileprivate var whenClosed: SignInFailure {
        switch self {
        case .livenessFailed: .livenessFailed
        case .mismatch, .badCapture, nil: .cancelled
        }
    }
}
