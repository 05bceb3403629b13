extension WrongOnPurpose {
    /// A call something can be wrong at, by the name faults have for it.
    public enum Place: String, Sendable, Hashable, Codable, CaseIterable {
        case start, faceToken, attempt, completion, token, refresh, abort
        /// A call of the app's own API with the session.
        case api = "fetch"

        /// The calls that carry a DPoP proof.
        static let withProof: [Place] = [.start, .completion, .token, .refresh, .api]
        /// The calls that carry a signed ceremony.
        static let withCeremony: [Place] = [.faceToken, .attempt, .completion, .abort]
        /// The calls that name the client.
        static let withClient: [Place] = [.start, .completion, .token, .refresh]
    }

    /// What a good server makes of a wrong call.
    public struct Expectation: Sendable, Hashable {
        /// Whether the call goes through all the same.
        public enum Verdict: String, Sendable, Hashable, Codable {
            /// A good server refuses.
            case refused
            /// A good server accepts: what looks wrong is allowed.
            case accepted
            /// The standards leave it open; the reference IdP refuses.
            case either
        }

        /// Whether the call goes through all the same.
        public let verdict: Verdict
        /// The statuses a refusal may have; the first is the reference IdP's.
        public let statuses: [Int]
        /// The error codes a refusal may have; the first is the reference IdP's.
        public let errors: [String]
        /// The rule in the reference IdP's finding; nil where it accepts.
        public let rule: String?

        /// Whether an answer is one a good server may give: `error` is the code of a refusal, nil for none.
        public func allows(status: Int, error: String?) -> Bool {
            if status >= 500 { return false }
            let isRefusal = error.map { $0 != "insufficient_authorization" } ?? (status >= 400)
            switch verdict {
            case .accepted: return !isRefusal
            case .either where !isRefusal: return true
            case .refused, .either: return statuses.contains(status) && error.map(errors.contains) ?? false
            }
        }
    }

    /// One row of the table: a wrong, where it is from, what the phone does, and where it can.
    public struct Row: Sendable {
        /// The wrong.
        public let wrong: WrongOnPurpose
        /// Its number in the catalogue of mutations, or the source of the rule it breaks.
        public let source: String
        /// What the phone does.
        public let meaning: String
        /// The calls it can be done at.
        public let places: [Place]
    }

    /// The row of this wrong.
    public var row: Row { Self.rows[self] ?? Row(wrong: self, source: "", meaning: "", places: []) }

    /// Every wrong there is, in the order of the catalogue.
    public static var table: [Row] { allCases.map(\.row) }

    /// Whether a phone can do this at a call.
    public func applies(to place: Place) -> Bool { row.places.contains(place) }

    /// Reads a wrong and the call it is to be done at.
    ///
    /// Throws `.invalid` that names both where the wrong is none, or cannot be done there.
    public static func checked(_ name: String, at call: String) throws(EngineError) -> WrongOnPurpose {
        guard let wrong = WrongOnPurpose(rawValue: name) else {
            throw .invalid(field: "wrong", rule: "a wrong of docs/wrong-on-purpose.md", value: name)
        }
        guard let place = Place(rawValue: call), wrong.applies(to: place) else {
            let places = wrong.row.places.map(\.rawValue).joined(separator: ", ")
            throw .invalid(field: "wrong", rule: "\(name) can be done at \(places)", value: call)
        }
        return wrong
    }

    private static let rows: [WrongOnPurpose: Row] = {
        var rows: [WrongOnPurpose: Row] = [:]
        for (wrong, source, meaning, places) in entries {
            rows[wrong] = Row(wrong: wrong, source: source, meaning: meaning, places: places)
        }
        return rows
    }()

    private static let entries: [(WrongOnPurpose, String, String, [Place])] = [
        (.noProof, "M1, M15-M17", "the request goes without a DPoP header", Place.withProof),
        (.twoProofs, "M2", "two DPoP headers, each a good proof", Place.withProof),
        (.typJWT, "M3", "`typ` is `JWT`", Place.withProof),
        (.typMissing, "M3", "no `typ`", Place.withProof),
        (.typOddCase, "M3", "`typ` is `DPoP+JWT`", Place.withProof),
        (.algNone, "M4", "`alg` is `none`, and there is no signature", Place.withProof),
        (.algHS256, "M4", "`alg` is `HS256`, keyed with the bytes of the public key", Place.withProof),
        (.algMismatch, "M4", "`alg` is `RS256` beside a P-256 key", Place.withProof),
        (.jwkPrivate, "M5, D32", "`jwk` has a `d`, of a key made for it", Place.withProof),
        (.jwkAbsent, "M5", "no `jwk`", Place.withProof),
        (.jwkOffCurve, "M5", "`jwk` is no point of the curve", Place.withProof),
        (.jwkShort, "M5, D15", "`x` without its first byte", Place.withProof),
        (.derSignature, "M6, D17", "the signature in DER", Place.withProof),
        (.shortSignature, "M6, D18", "the signature without its last byte", Place.withProof),
        (.longSignature, "M6, D18", "the signature and one byte more", Place.withProof),
        (.flippedBit, "M6", "one bit of the signature is another", Place.withProof),
        (.zeroSignature, "M6", "64 zero bytes for a signature", Place.withProof),
        (.padded, "M7, D31", "base64url with padding", Place.withProof),
        (.standardAlphabet, "M7", "base64 with `+` and `/`", Place.withProof),
        (.htmLower, "M8", "`htm` in lower case", Place.withProof),
        (.htmOther, "M8", "`htm` is another method", Place.withProof),
        (.htuQuery, "M9, D1", "`htu` has a query", Place.withProof),
        (.htuPort, "M9", "`htu` names the default port", Place.withProof),
        (.htuUpperHost, "M9", "scheme and host of `htu` in upper case", Place.withProof),
        (.htuPath, "M9", "`htu` has another path", Place.withProof),
        (.htuHost, "M9", "`htu` has another host", Place.withProof),
        (.htuScheme, "M9", "`htu` has the other scheme", Place.withProof),
        (.htuSlash, "M9, D4", "`htu` ends in a slash", Place.withProof),
        (.iatFuture, "M10", "`iat` two minutes ahead", Place.withProof),
        (.iatOld, "M10", "`iat` an hour back, and no nonce that would date the proof", Place.withProof),
        (.iatMilliseconds, "M10", "`iat` in milliseconds", Place.withProof),
        (.iatString, "M10", "`iat` is a string", Place.withProof),
        (.iatFraction, "M10", "`iat` has a fraction", Place.withProof),
        (.iatNegative, "M10", "`iat` is negative", Place.withProof),
        (.iatHuge, "M10", "`iat` is 1e18", Place.withProof),
        (.replayedProof, "M11", "the request goes out, and again with the same proof", Place.withProof),
        (.athMissing, "M12, D9", "no `ath`", [.api]),
        (.athOther, "M12, D10", "`ath` of another token", [.api]),
        (.athHex, "M12", "`ath` in hexadecimal", [.api]),
        (.otherKey, "M13, M15-M17", "the proof is by another key", [.completion, .token, .refresh, .api]),
        (.asBearer, "M14", "the bound token as `Bearer`", [.api]),
        (.nonceMissing, "M18, D7", "no nonce, where one was given", Place.withProof),
        (.nonceOfAPI, "M18", "the API's nonce at the issuer, and the issuer's at the API", Place.withProof),
        (.nonceInvented, "M18, D6", "a nonce nobody gave", Place.withProof),
        (.jtiHuge, "M19", "a `jti` of 10,000 bytes", Place.withProof),
        (.dpopJKTOther, "M20", "`dpop_jkt` of another key in the form", [.start]),
        (.codeTwice, "M21", "the code is redeemed, and again with a fresh proof", [.token]),
        (.codeOther, "M21", "a code nobody was given", [.token]),
        (.codeOfAnotherClient, "M21", "a code this engine was given for another client", [.token]),
        (.verifierWrong, "M21", "another `code_verifier`", [.token]),
        (.verifierMissing, "M21", "no `code_verifier`", [.token]),
        (.clientOther, "M22", "another `client_id`", Place.withClient),
        (.noCodeChallenge, "M23", "a start without `code_challenge`", [.start]),
        (.ashWrong, "wire 2", "`ash` is the hash of another session", Place.withCeremony),
        (.challengeWrong, "wire 2", "`chl` is another challenge", Place.withCeremony),
        (.ceremonyOther, "wire 2", "`cer` is another ceremony", Place.withCeremony),
        (.ceremonyJKTOther, "wire 2", "`jkt` is another key's", Place.withCeremony),
        (.generationOld, "wire 6", "`gen` is the generation before", [.completion]),
        (.faceTokenAltered, "wire 6", "the face token is altered after the proof was made", [.completion]),
        (
            .replayedCeremony, "wire 6", "the completion goes out, and the same proof again with an altered face token",
            [.completion]
        ),
        (.ceremonyOtherKey, "wire 2", "the ceremony is signed by a key nobody enrolled", Place.withCeremony),
        (.ceremonyFlippedBit, "wire 2", "one bit of the ceremony's signature is another", Place.withCeremony),
        (.ceremonyDER, "wire 2, D17", "the ceremony's signature in DER", Place.withCeremony),
        (.ceremonyAlgNone, "wire 2", "the ceremony's `alg` is `none`", Place.withCeremony),
        (.ceremonyTypOther, "wire 2", "the ceremony's `typ` is `JWT`", Place.withCeremony),
        (.ceremonyActOther, "wire 2", "the ceremony's `act` is another call's", Place.withCeremony),
        (.ceremonyAudienceOther, "wire 2", "the ceremony's `aud` is another issuer", Place.withCeremony),
        (.ceremonyIatOld, "wire 2", "the ceremony's `iat` is a day back", Place.withCeremony),
        (.ceremonyIatFuture, "wire 2", "the ceremony's `iat` is an hour ahead", Place.withCeremony),
        (
            .relayedSession, "M16, wire 6", "another phone of the same user goes on with the session",
            [.faceToken, .completion]
        ),
        (
            .relayedSessionOtherUser, "M16, wire 6", "a phone of another user goes on with the session",
            [.faceToken, .completion]
        ),
        (.sessionInvented, "M16", "an `auth_session` nobody was given", [.completion]),
        (.refreshTokenOther, "D22", "a refresh token nobody was given", [.refresh]),
        (.refreshTokenOld, "RFC 9700 4.14", "the refresh token of the refresh before", [.refresh]),
    ]
}
