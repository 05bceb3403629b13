internal import Device
internal import Encoding

// After the match: the face token is sealed anew, and the proof is signed once, for good.

/// Waits for the face token to be sealed anew.
struct Rotating: Codable, Sendable, Equatable {
    let check: FaceCheck
    let pki: SignInPKIResult?
    var effect: EffectID
}

/// Waits for the ceremony proof.
struct SigningProof: Codable, Sendable, Equatable {
    let session: OpenSession
    let generation: UInt32
    /// The rotated face token, base64url.
    ///
    /// It counts only once the server has accepted the completion.
    let rotated: String
    let pki: SignInPKIResult?
    var effect: EffectID
}

extension SenseCryptSignIn {
    /// The rotated token is the generation after the one that was fetched.
    mutating func rotate(_ check: FaceCheck, _ pki: SignInPKIResult?) -> [Effect] {
        let effect = emit(.rotateFaceToken(generation: check.generation + 1, addingSeeds: check.seedClasses))
        phase = .rotating(Rotating(check: check, pki: pki, effect: effect.id))
        return [effect]
    }

    mutating func rotating(_ phase: Rotating, _ event: Event) -> [Effect] {
        switch event {
        case .faceTokenRotated(_, let sealed):
            return signProof(
                phase.check.session, fetched: phase.check.generation, rotated: Base64URL.encode(sealed),
                phase.pki)
        case .faceTokenUnusable(_, let rule):
            return fail(.server(message: "the face token: \(rule)"), in: phase.check.session)
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.check.session)
        case .cancel: return fail(.cancelled, in: phase.check.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost,
            .ceremonySigned, .captured, .faceTokenOpened,
            .faceTokenNotOpened, .committed, .retry, .pkiRan, .pkiKeysNotReady:
            return []
        }
    }

    mutating func signProof(
        _ session: OpenSession, fetched generation: UInt32, rotated: String, _ pki: SignInPKIResult?
    ) -> [Effect] {
        guard let sealed = try? Base64URL.decode(rotated) else {
            preconditionFailure("the machine encoded the rotated face token itself")
        }
        let act = CeremonyAct.complete(generation: generation, faceTokenHash: CeremonyHash.of(sealed))
        let claims = session.claims(act, issuer: config.issuer)
        let effect = emit(.signCeremony(claims, key: session.ground.key))
        phase = .signingProof(
            SigningProof(session: session, generation: generation, rotated: rotated, pki: pki, effect: effect.id))
        return [effect]
    }

    mutating func signingProof(_ phase: SigningProof, _ event: Event) -> [Effect] {
        switch event {
        case .ceremonySigned(_, let jws):
            return sendCompletion(
                Proof(session: phase.session, ceremonyProof: jws, faceToken: phase.rotated, pki: phase.pki))
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.session)
        case .cancel: return fail(.cancelled, in: phase.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost, .captured,
            .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            return []
        }
    }
}
