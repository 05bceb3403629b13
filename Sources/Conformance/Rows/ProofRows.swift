import Crypto
import Encoding
import Engine
import HTTP
import JOSE
import SignIn
import Transport

/// DPoP proofs: every wrong at a start, and each rule's first wrong wherever else a proof is wanted.
extension Row {
    static let proofs: [Row] = [
        proof("dpop.header.missing", "RFC 9449 4.3, M1, M15-M17", "a request has a DPoP proof", [.noProof]),
        Row("dpop.header.count", "RFC 9449 4.3 (1), M2, D14", "a request has one proof, not several") {
            lab, score async throws(ProbeFault) in
            try await judge([.twoProofs], lab, score)
            try await twice(lab, score)
        },
        Row("dpop.encoding", "RFC 7515 2, M7, D31", "proofs are strict base64url") {
            lab, score async throws(ProbeFault) in
            try await judge([.padded, .standardAlphabet], lab, score)
            try await start("a letter of no alphabet", lab, score) { $0 + "!" }
            try await start("spare bits that are not zero", lab, score, spareBits)
        },
        proof("dpop.typ", "RFC 9449 4.3 (4), M3", "typ is dpop+jwt", [.typJWT, .typMissing, .typOddCase]),
        proof(
            "dpop.alg", "RFC 9449 4.3 (5), M4", "alg is asymmetric and fits the key",
            [.algNone, .algHS256, .algMismatch]),
        Row("dpop.jwk", "RFC 9449 4.3 (7), M5, D15, D16, D32", "jwk is a sound public key") {
            lab, score async throws(ProbeFault) in
            try await judge([.jwkPrivate, .jwkAbsent, .jwkOffCurve, .jwkShort], lab, score)
            try await leadingZero(lab, score)
        },
        proof(
            "dpop.signature", "RFC 9449 4.3 (6), M6, D17, D18", "the signature fits, 64 bytes of R and S",
            [.flippedBit, .derSignature, .shortSignature, .longSignature, .zeroSignature]),
        Row("dpop.htm", "RFC 9449 4.3 (8), M8", "htm is the method") { lab, score async throws(ProbeFault) in
            try await judge([.htmOther, .htmLower], lab, score)
            try await start("no htm", lab, score, claims: { $0["htm"] = nil })
        },
        Row("dpop.htu", "RFC 9449 4.3 (9), M9, D3, D4", "htu is the URL of the request") {
            lab, score async throws(ProbeFault) in
            try await judge([.htuPath, .htuHost, .htuScheme, .htuSlash], lab, score)
            try await start("no htu", lab, score, claims: { $0["htu"] = nil })
            try await start(
                "userinfo in htu", lab, score,
                claims: { $0["htu"] = .string(($0["htu"]?.string ?? "").replacing("://", with: "://me@")) })
            try await decodedPath(lab, score)
        },
        Row(
            "dpop.htu.normalization", "RFC 9449 4.3, RFC 3986 6.2.2, M9, D1, D3",
            "another spelling of the same URL is accepted"
        ) { lab, score async throws(ProbeFault) in
            for wrong in [WrongOnPurpose.htuUpperHost, .htuPort] {
                try await score.attempt(wrong, at: .start, lab) { probe, answer in score.accepted(probe, answer) }
            }
            // A server may hold the client to sending none, and one that ignores it is what RFC 9449 asks for.
            try await score.attempt(.htuQuery, at: .start, lab) { probe, answer in
                score.accepted(probe, answer, otherwise: .warn)
            }
            try await unreservedPath(lab, score)
        },
        proof(
            "dpop.claim.iat", "RFC 9449 4.3 (3), M10", "iat is a plausible number of seconds",
            [.iatMilliseconds, .iatString, .iatNegative, .iatHuge]),
        Row("dpop.iat.old", "RFC 9449 4.3 (11), M10", "a proof is not old") { lab, score async throws(ProbeFault) in
            // Where a nonce dates the proof, its absence is what is refused.
            try await score.attempt(.iatOld, at: .start, lab) { probe, answer in
                guard answer.error != "use_dpop_nonce" else {
                    return score.skip("a start needs a nonce here, which dates the proof")
                }
                score.refused(probe, answer, [400], ["invalid_dpop_proof"])
            }
        },
        proof("dpop.iat.future", "RFC 9449 4.3 (11), M10", "a proof is not from the future", [.iatFuture]),
        Row("dpop.claim.jti", "RFC 9449 4.2, M19", "jti is there and of a sane length") {
            lab, score async throws(ProbeFault) in
            try await judge([.jtiHuge], lab, score)
            try await start("no jti", lab, score, claims: { $0["jti"] = nil })
            try await start("an empty jti", lab, score, claims: { $0["jti"] = "" })
        },
        Row("dpop.jti.replayed", "RFC 9449 11.1, M11, D32", "a proof is good once") {
            lab, score async throws(ProbeFault) in
            for place in [WrongOnPurpose.Place.start, .refresh, .api] {
                try await score.attempt(.replayedProof, at: place, lab) { probe, answer in
                    score.refused(
                        probe, answer, [place == .api ? 401 : 400], ["invalid_dpop_proof", "use_dpop_nonce"])
                }
            }
        },
    ]

    private static func proof(_ rule: String, _ source: String, _ wanted: String, _ wrongs: [WrongOnPurpose]) -> Row {
        Row(rule, source, wanted) { lab, score async throws(ProbeFault) in try await judge(wrongs, lab, score) }
    }

    /// Every wrong at a start, the first one everywhere.
    private static func judge(_ wrongs: [WrongOnPurpose], _ lab: Lab, _ score: Score) async throws(ProbeFault) {
        for wrong in wrongs {
            let places =
                wrong == wrongs.first ? [.start, .completion, .token, .refresh, .api] : [WrongOnPurpose.Place.start]
            for place in places {
                try await score.attempt(wrong, at: place, lab) { probe, answer in
                    guard let expected = wrong.expectation(at: place) else { return }
                    // A server that lets a request in without a proof may still see that nothing is bound to it.
                    let also =
                        wrong == .noProof
                        ? ["invalid_session", "invalid_grant", "access_denied"] : [String]()
                    score.refused(probe, answer, expected.statuses, expected.errors + also)
                }
            }
        }
    }

    /// A start whose proof's text is altered.
    private static func start(
        _ probe: String, _ lab: Lab, _ score: Score, _ alter: (String) -> String
    ) async throws(ProbeFault) {
        var request = try await lab.stage(.start).request(in: lab)
        request.fields.set("DPoP", alter(request.fields["DPoP"] ?? ""))
        score.refused("\(probe) at start", try await lab.fire(request), [400], ["invalid_dpop_proof"])
    }

    /// A start whose proof has other claims, and is signed as it should be.
    private static func start(
        _ probe: String, _ lab: Lab, _ score: Score, claims: (inout JSONObject) -> Void
    ) async throws(ProbeFault) {
        var request = try await lab.stage(.start).request(in: lab)
        request.fields.set("DPoP", try lab.proof(for: request, by: lab.phone, claims: claims))
        score.refused("\(probe) at start", try await lab.fire(request), [400], ["invalid_dpop_proof"])
    }

    /// The last letter of 86 stands for two bits and four that must be zero.
    private static func spareBits(_ proof: String) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        guard let last = proof.last, let index = letters.firstIndex(of: last) else { return proof }
        return proof.dropLast() + String(letters[index | 1])
    }

    /// D15, D16: a coordinate that begins with a zero byte is a good one.
    private static func leadingZero(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        for _ in 0..<20_000 {
            let key = try lab.own("a key") { try P256.PrivateKey.generate(lab.setup.entropy) }
            guard key.publicKey.x963[1] == 0 else { continue }
            let phone = lab.phone.reinstalled(key)
            let start = try await ProbeFlow(lab, by: phone).advance(to: .start)
            return score.accepted(
                "a key whose x begins with a zero byte at start",
                try await lab.fire(try lab.request(start, by: phone)))
        }
        score.skip("no key with a leading zero came up")
    }

    /// D14: the same proof twice, and two joined by a comma.
    private static func twice(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        for (probe, joined) in [("the same proof twice at start", false), ("two proofs in one field at start", true)] {
            var request = try await lab.stage(.start).request(in: lab)
            let proof = request.fields["DPoP"] ?? ""
            if joined {
                request.fields.set("DPoP", proof + ", " + (try lab.proof(for: request, by: lab.phone)))
            } else {
                request.fields.append("DPoP", proof)
            }
            score.refused(probe, try await lab.fire(request), [400], ["invalid_dpop_proof", "invalid_request"])
        }
    }

    /// D3: `%40` and `@` are two paths.
    private static func decodedPath(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        guard lab.setup.api != nil else { return }
        let answer = try await spelled("/u/a%40b", "/u/a@b", lab)
        score.refused("a%40b at the API with htu a@b", answer, [401], ["invalid_dpop_proof", "use_dpop_nonce"])
    }

    /// D3: `%7E` and `~` are one.
    private static func unreservedPath(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        guard lab.setup.api != nil else { return }
        let answer = try await spelled("/u/%7Eada", "/u/~ada", lab)
        // What is not there is no matter of proofs.
        let isAccepted = answer.isAccepted || answer.status == 404
        score.check(
            "%7E at the API with htu ~", isAccepted, expected: "accepted", got: answer.summary)
    }

    private static func spelled(_ path: String, _ signed: String, _ lab: Lab) async throws(ProbeFault) -> Answer {
        guard let tokens = try await lab.stage(.api).tokens, let resource = lab.resource else {
            throw .missing("no resource API was given: --api URL")
        }
        return try await lab.fire(try lab.apiRequest(tokens.access, path: path, htu: resource + signed))
    }

    /// Nonces, where a server must ask for one.
    static let nonces: [Row] = [
        Row("dpop.nonce.missing", "RFC 9449 8, M18, D7", "completion, token and refresh need a nonce") {
            lab, score async throws(ProbeFault) in
            for place in [WrongOnPurpose.Place.completion, .token, .refresh] {
                try await score.attempt(.nonceMissing, at: place, lab) { probe, answer in
                    score.refused(probe, answer, [400], ["use_dpop_nonce"])
                }
            }
        },
        Row("dpop.nonce.stale", "RFC 9449 8.2, M18, D6", "a nonce is one this server gave of late") {
            lab, score async throws(ProbeFault) in
            for place in [WrongOnPurpose.Place.completion, .token, .refresh] {
                try await score.attempt(.nonceInvented, at: place, lab) { probe, answer in
                    score.refused(probe, answer, [400], ["use_dpop_nonce"])
                }
            }
            guard lab.setup.api != nil else { return }
            _ = try await lab.stage(.api)
            try await score.attempt(.nonceOfAPI, at: .token, lab) { probe, answer in
                score.refused(probe, answer, [400], ["use_dpop_nonce"])
            }
            // An API need not know of nonces; one that refuses such a proof says what would help (D7).
            try await score.attempt(.nonceInvented, at: .api, lab) { probe, answer in
                guard !answer.isAccepted else { return score.skip("the API asks for no nonce") }
                score.refused(probe, answer, [401], ["use_dpop_nonce"])
            }
        },
        Row("answer.dpop_nonce", "RFC 9449 8", "use_dpop_nonce brings one DPoP-Nonce, and that is good") {
            lab, score async throws(ProbeFault) in
            lab.forgetStages()
            for wrong in [WrongOnPurpose.nonceInvented, .nonceMissing] {
                let challenge = try await lab.mutate(wrong, at: .token)
                guard challenge.error == "use_dpop_nonce" else { continue }
                score.check(
                    "\(wrong.rawValue) at token", challenge.nonces.count == 1, expected: "one DPoP-Nonce",
                    got: "\(challenge.nonces.count)")
                guard challenge.nonces.count == 1 else { return }
                let stage = try await lab.stage(.token)
                let again = try await lab.fire(try await stage.request(in: lab))
                lab.forgetStages()
                return score.accepted("the same with that nonce", again)
            }
            score.skip("the server asks for no nonce at the token endpoint")
        },
        Row("order.proof_first", "draft first-party-apps 9.5.1, wire 8", "a refused proof uses up no code") {
            lab, score async throws(ProbeFault) in
            lab.forgetStages()
            let refused = try await lab.mutate(.noProof, at: .token)
            guard !refused.isAccepted else { return score.skip("the bad proof was taken") }
            let stage = try await lab.stage(.token)
            let answer = try await lab.fire(try await stage.request(in: lab))
            lab.forgetStages()
            score.accepted("the code after a bad proof", answer)
        },
    ]
}

extension Score {
    /// Does a call wrong and judges the answer; what cannot be done is left out with the reason.
    func attempt(
        _ wrong: WrongOnPurpose, at place: WrongOnPurpose.Place, _ lab: Lab, _ judge: (String, Answer) -> Void
    ) async throws(ProbeFault) {
        do throws(ProbeFault) {
            judge("\(wrong.rawValue) at \(place.rawValue)", try await lab.mutate(wrong, at: place))
        } catch .missing(let what) {
            skip("\(wrong.rawValue) at \(place.rawValue): \(what)")
        }
    }
}
