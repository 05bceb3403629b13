extension WrongOnPurpose {
    /// What a good server makes of this wrong at a call; nil where it cannot be done there.
    ///
    /// Nonces are what a server asks for: the three nonce wrongs are refused where it asks for one at that call.
    public func expectation(at place: Place) -> Expectation? {
        guard applies(to: place) else { return nil }
        switch self {
        case .htuQuery, .htuPort, .htuUpperHost:
            return Expectation(verdict: .accepted, statuses: [], errors: [], rule: nil)
        default: break
        }
        if let rule = proofRule {
            return Self.badProof(rule, at: place, verdict: self == .iatFraction ? .either : .refused)
        }
        if Place.withCeremony.contains(place), let refusal = ceremonyRefusal(at: place) { return refusal }
        return ownRefusal(at: place)
    }

    /// The rule a bad proof breaks, wherever it is sent.
    private var proofRule: String? {
        switch self {
        case .noProof, .twoProofs: "dpop.header.count"
        case .typJWT, .typMissing, .typOddCase: "dpop.typ"
        case .algNone: "dpop.jose.segment.empty"
        case .algHS256, .algMismatch: "dpop.jose.alg.not_accepted"
        case .jwkPrivate: "dpop.jose.jwk.private"
        case .jwkAbsent: "dpop.jose.header.jwk"
        case .jwkOffCurve: "dpop.jose.jwk.value"
        case .jwkShort: "dpop.jose.jwk.coordinate"
        case .derSignature, .shortSignature, .longSignature: "dpop.jose.signature.length"
        case .flippedBit, .zeroSignature: "dpop.jose.signature"
        case .padded: "dpop.jose.segment.padding"
        case .standardAlphabet: "dpop.jose.segment.encoding"
        case .htmLower, .htmOther: "dpop.htm"
        case .htuPath, .htuHost, .htuScheme, .htuSlash: "dpop.htu"
        case .iatFuture: "dpop.iat.future"
        case .iatOld: "dpop.nonce.missing"
        case .iatMilliseconds, .iatString, .iatFraction, .iatNegative, .iatHuge: "dpop.claim.iat"
        case .replayedProof: "dpop.jti.replayed"
        case .athMissing, .athOther, .athHex: "dpop.ath"
        case .nonceMissing: "dpop.nonce.missing"
        case .nonceOfAPI, .nonceInvented: "dpop.nonce.stale"
        case .jtiHuge: "dpop.jose.length"
        default: nil
        }
    }

    private static func badProof(_ rule: String, at place: Place, verdict: Expectation.Verdict) -> Expectation {
        let status = place == .api ? 401 : 400
        return switch rule {
        case "dpop.nonce.missing", "dpop.nonce.stale":
            Expectation(verdict: verdict, statuses: [status], errors: ["use_dpop_nonce"], rule: rule)
        case "dpop.header.count":
            Expectation(
                verdict: verdict, statuses: [status],
                errors: ["invalid_dpop_proof", "invalid_request", "invalid_token"], rule: rule)
        case "dpop.ath":
            Expectation(
                verdict: verdict, statuses: [status], errors: ["invalid_dpop_proof", "invalid_token"], rule: rule)
        case "dpop.jose.length":
            Expectation(
                verdict: verdict, statuses: [status, 431], errors: ["invalid_dpop_proof", "invalid_request"],
                rule: rule)
        default:
            Expectation(verdict: verdict, statuses: [status], errors: ["invalid_dpop_proof"], rule: rule)
        }
    }
}

/// The signed ceremony: one uniform refusal at the ceremony's own calls, an error of its own at the completion.
extension WrongOnPurpose {
    private func ceremonyRefusal(at place: Place) -> Expectation? {
        let isCompletion = place == .completion
        switch self {
        case .ceremonyTypOther: return Self.malformed("ceremony.typ", isCompletion)
        case .ceremonyAlgNone: return Self.malformed("ceremony.jws", isCompletion)
        case .ceremonyActOther: return Self.malformed("ceremony.act", isCompletion)
        case .ceremonyAudienceOther: return Self.malformed("ceremony.aud", isCompletion)
        case .ceremonyIatOld, .ceremonyIatFuture:
            return isCompletion ? Self.badCeremony("completion.iat") : Self.malformed("ceremony.iat", false)
        default: break
        }
        guard let (uniform, completion) = ceremonyRules else { return nil }
        return isCompletion ? Self.badCeremony(completion) : Self.uniform(uniform)
    }

    /// The rule at the ceremony's own calls, and the one at the completion.
    private var ceremonyRules: (uniform: String, completion: String)? {
        switch self {
        case .ashWrong: ("ceremony.session", "completion.ash")
        case .challengeWrong: ("ceremony.chl", "completion.chl")
        case .ceremonyOther: ("ceremony.cer", "completion.cer")
        case .ceremonyJKTOther: ("ceremony.jkt", "completion.jkt")
        case .ceremonyOtherKey: ("ceremony.key", "completion.kid")
        case .ceremonyFlippedBit, .ceremonyDER: ("ceremony.signature", "completion.signature")
        case .faceTokenAltered, .replayedCeremony: ("", "completion.fth")
        default: nil
        }
    }

    private static func malformed(_ rule: String, _ isCompletion: Bool) -> Expectation {
        Expectation(
            verdict: .refused, statuses: [400],
            errors: ["invalid_request"] + (isCompletion ? ["invalid_ceremony_proof"] : []), rule: rule)
    }

    private static func badCeremony(_ rule: String) -> Expectation {
        Expectation(
            verdict: .refused, statuses: [400], errors: ["invalid_ceremony_proof", "invalid_request"], rule: rule)
    }

    private static func uniform(_ rule: String) -> Expectation {
        Expectation(verdict: .refused, statuses: [403], errors: ["access_denied"], rule: rule)
    }
}

/// Keys, codes, clients, sessions and tokens.
extension WrongOnPurpose {
    private func ownRefusal(at place: Place) -> Expectation? {
        switch (self, place) {
        case (.otherKey, .completion): return Self.deadSession("completion.dpop_key")
        case (.otherKey, .token): return Self.grant("code.dpop_key")
        case (.otherKey, .refresh): return Self.grant("refresh.dpop_key")
        case (.otherKey, .api): return Self.token("access_token.cnf", also: "invalid_dpop_proof")
        case (.asBearer, _): return Self.token("api.scheme", also: "invalid_request")
        case (.dpopJKTOther, _): return Self.refused(400, ["invalid_dpop_proof", "invalid_request"], "start.dpop_jkt")
        case (.codeTwice, _): return Self.grant("code.once")
        case (.codeOther, _): return Self.grant("code.known")
        case (.codeOfAnotherClient, _): return Self.grant("code.client")
        case (.verifierWrong, _): return Self.grant("code.verifier")
        case (.verifierMissing, _): return Self.grant("code.verifier", also: ["invalid_request"])
        case (.clientOther, .start): return Self.client(also: ["unauthorized_client"])
        case (.clientOther, .completion): return Self.client(also: ["unauthorized_client", "invalid_session"])
        case (.clientOther, _): return Self.client(also: ["unauthorized_client", "invalid_grant"])
        case (.noCodeChallenge, _): return Self.refused(400, ["invalid_request"], "request.code_challenge_method")
        case (.generationOld, _): return Self.refused(400, ["face_token_stale"], "completion.generation")
        case (.relayedSession, .completion), (.relayedSessionOtherUser, .completion):
            return Self.deadSession("completion.dpop_key")
        case (.relayedSession, _), (.relayedSessionOtherUser, _): return Self.uniform("ceremony.jkt")
        case (.sessionInvented, _): return Self.deadSession("completion.session")
        case (.refreshTokenOther, _): return Self.grant("refresh.known")
        case (.refreshTokenOld, _): return Self.grant("refresh.once")
        default: return nil
        }
    }

    private static func refused(_ status: Int, _ errors: [String], _ rule: String) -> Expectation {
        Expectation(verdict: .refused, statuses: [status], errors: errors, rule: rule)
    }

    private static func grant(_ rule: String, also errors: [String] = []) -> Expectation {
        refused(400, ["invalid_grant"] + errors, rule)
    }

    private static func deadSession(_ rule: String) -> Expectation {
        Expectation(
            verdict: .refused, statuses: [400, 403], errors: ["invalid_session", "access_denied", "invalid_grant"],
            rule: rule)
    }

    private static func token(_ rule: String, also error: String) -> Expectation {
        refused(401, ["invalid_token", error], rule)
    }

    private static func client(also errors: [String]) -> Expectation {
        Expectation(verdict: .refused, statuses: [401, 400], errors: ["invalid_client"] + errors, rule: "client.known")
    }
}
