import Crypto
import Encoding
import Engine
import HTTP
import OAuth
import SignIn
import Transport

/// Codes.
extension Row {
    static let codes: [Row] = [
        token("code.known", "RFC 6749 5.2, M21", "the code is one of the tenant's", [.codeOther]),
        token("code.once", "RFC 6749 4.1.2, M21", "a code is good once", [.codeTwice]),
        Row("code.reuse_revokes", "RFC 6749 4.1.2, M21", "a second use of a code revokes what it issued") {
            lab, score async throws(ProbeFault) in
            let flow = ProbeFlow(lab)
            let call = try await flow.advance(to: .token)
            let tokens = try await flow.finish()
            _ = try await lab.exchange(call)
            try await revoked(tokens, "behind a second use of the code", lab, score)
        },
        Row("code.dpop_key", "RFC 9449 10, M15", "the DPoP key is the one of the session") {
            lab, score async throws(ProbeFault) in try await judge(.otherKey, .token, lab, score)
        },
        Row("code.live", "wire 7", "a code of an aborted session is dead") { lab, score async throws(ProbeFault) in
            let flow = ProbeFlow(lab)
            let completion = try await flow.advance(to: .completion)
            let token = try await flow.advance(to: .token)
            score.accepted("abort", try await lab.fire(try lab.request(try lab.abort(sessionOf: completion))))
            score.refused("the code behind it", try await lab.exchange(token), [400], ["invalid_grant"])
        },
        token(
            "code.verifier", "RFC 7636 4.6, M21", "code_verifier is that of the code challenge",
            [.verifierWrong, .verifierMissing]),
    ]

    private static func token(_ rule: String, _ source: String, _ wanted: String, _ wrongs: [WrongOnPurpose]) -> Row {
        Row(rule, source, wanted) { lab, score async throws(ProbeFault) in
            for wrong in wrongs { try await judge(wrong, .token, lab, score) }
        }
    }

    /// Refresh tokens.
    static let refreshing: [Row] = [
        Row("refresh.known", "RFC 6749 5.2, D22", "the refresh token is one of the tenant's") {
            lab, score async throws(ProbeFault) in
            try await judge(.refreshTokenOther, .refresh, lab, score)
            score.refused(
                "a UUID at refresh", try await lab.refresh(lab.setup.entropy.uuid()), [400], ["invalid_grant"])
        },
        Row("refresh.dpop_key", "RFC 9449 5, M17, D13", "a public client refreshes with the key of the grant") {
            lab, score async throws(ProbeFault) in
            lab.forgetStages()
            let tokens = try await lab.stage(.refresh).tokens
            let answer = try await lab.mutate(.otherKey, at: .refresh)
            score.refused("other-key at refresh", answer, [400], ["invalid_grant", "invalid_dpop_proof"])
            guard !answer.isAccepted, let refresh = tokens?.refresh else { return }
            score.accepted("the right key behind it", try await lab.refresh(refresh))
            lab.forgetStages()
        },
        Row("refresh.once", "RFC 9700 4.14.2", "a rotated refresh token is good once") {
            lab, score async throws(ProbeFault) in
            let (spent, _) = try await rotated(lab)
            score.refused("the spent token", try await lab.refresh(spent), [400], ["invalid_grant"])
        },
        Row("refresh.reuse_revokes", "RFC 9700 4.14.2", "a spent refresh token ends its family") {
            lab, score async throws(ProbeFault) in
            let (spent, current) = try await rotated(lab)
            _ = try await lab.refresh(spent)
            score.refused("the current token behind it", try await lab.refresh(current), [400], ["invalid_grant"])
        },
        Row("refresh.scope", "RFC 6749 6", "a refresh asks for no more scope than was granted") {
            lab, score async throws(ProbeFault) in
            let answer = try await refreshed(lab) { $0.set("scope", "openid conform-no-such-scope") }
            score.refused("a scope more", answer, [400], ["invalid_scope"])
        },
        Row("refresh.resource", "RFC 8707 2.2", "a refresh asks for the resource that was granted") {
            lab, score async throws(ProbeFault) in
            let answer = try await refreshed(lab) { $0.set("resource", "https://other.understudy.example/") }
            score.refused("another resource", answer, [400], ["invalid_target"])
        },
    ]

    /// A spent refresh token and its successor.
    private static func rotated(_ lab: Lab) async throws(ProbeFault) -> (spent: String, current: String) {
        guard let spent = try await ProbeFlow(lab).finish().refresh else {
            throw .missing("the application gets no refresh token: allow it the scope offline_access")
        }
        let answer = try await lab.refresh(spent)
        guard answer.status == 200 else { throw .broken("a good refresh was answered \(answer.summary)") }
        guard let current = answer.json?["refresh_token"]?.string, current != spent else {
            throw .missing("the server does not rotate refresh tokens")
        }
        return (spent, current)
    }

    /// The answer to a refresh with another form, of a sign-in of its own.
    private static func refreshed(
        _ lab: Lab, _ edit: (inout FormFields) -> Void
    ) async throws(ProbeFault) -> Answer {
        guard let token = try await ProbeFlow(lab).finish().refresh else {
            throw .missing("the application gets no refresh token: allow it the scope offline_access")
        }
        return try await lab.fire(try lab.request(lab.refreshCall(token), edit))
    }

    /// The resource API.
    static let api: [Row] = [
        Row("dpop.ath", "RFC 9449 4.3 (12), M12, D9, D10", "ath is the hash of the access token") {
            lab, score async throws(ProbeFault) in
            for wrong in [WrongOnPurpose.athMissing, .athOther, .athHex] { try await judge(wrong, .api, lab, score) }
        },
        Row("api.authorization", "RFC 6750 3", "a request of the API has a token") {
            lab, score async throws(ProbeFault) in
            var request = try await lab.stage(.api).request(in: lab)
            request.fields.remove("Authorization")
            request.fields.remove("DPoP")
            let answer = try await lab.fire(request)
            score.check("no token", answer.status == 401, expected: "401", got: answer.summary)
            let challenge = answer.response.fields["WWW-Authenticate"] ?? ""
            score.check(
                "its challenge", challenge.lowercased().hasPrefix("dpop"), expected: "WWW-Authenticate: DPoP",
                got: challenge.isEmpty ? "none" : "another", otherwise: answer.status == 401 ? .warn : .fail)
        },
        Row("api.scheme", "RFC 9449 7.2, M14", "a bound token is not taken as Bearer") {
            lab, score async throws(ProbeFault) in try await judge(.asBearer, .api, lab, score)
        },
        Row("access_token.cnf", "RFC 9449 7.1, M13", "the proof is by the key of cnf.jkt") {
            lab, score async throws(ProbeFault) in try await judge(.otherKey, .api, lab, score)
        },
        Row("access_token.signature", "RFC 9068 4", "an access token is signed by the IdP") {
            lab, score async throws(ProbeFault) in
            guard let token = try await lab.stage(.api).tokens?.access else { return }
            let altered = try forged(token)
            score.refused(
                "a token with a bit of its signature turned", try await lab.fire(try lab.apiRequest(altered)), [401],
                ["invalid_token"])
        },
        Row("access_token.aud", "RFC 9068 4", "an access token is for this API") {
            lab, score async throws(ProbeFault) in
            guard lab.setup.api != nil else { throw .missing("no resource API was given: --api URL") }
            let tokens = try await ProbeFlow(lab, resource: false).finish()
            score.refused(
                "a token without this resource", try await lab.callAPI(tokens.access), [401], ["invalid_token"])
        },
        Row("access_token.revoked", "RFC 7009 2.1", "a revoked token is refused") {
            lab, score async throws(ProbeFault) in
            guard lab.setup.api != nil else { throw .missing("no resource API was given: --api URL") }
            guard let endpoint = lab.setup.metadata.revocationEndpoint else {
                throw .missing("the metadata name no revocation_endpoint")
            }
            let tokens = try await ProbeFlow(lab).finish()
            score.accepted("the token before", try await lab.callAPI(tokens.access))
            let form = GrantRequests.revocation(tokens.access, kind: .accessToken, clientID: lab.setup.clientID)
            score.accepted(
                "its revocation", try await lab.exchange(lab.formCall(.revocation, to: endpoint, form)))
            score.refused("the token behind it", try await lab.callAPI(tokens.access), [401], ["invalid_token"])
        },
    ]

    /// A token with one bit of its signature turned, still of the right length.
    private static func forged(_ token: String) throws(ProbeFault) -> String {
        let end = token.lastIndex(of: ".") ?? token.endIndex
        guard end < token.endIndex, var bytes = try? Base64URL.decode(token[token.index(after: end)...]),
            let first = bytes.first
        else { throw .missing("the access token is no JWT") }
        bytes[0] = first ^ 1
        return String(token[...end]) + Base64URL.encode(bytes)
    }
}
