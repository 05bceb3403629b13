import Encoding
import Engine
import HTTP
import OAuth
import SignIn
import Transport

/// A place before a call, with everything before it done right: what is sent there is the probe's business.
final class Stage {
    /// The sign-in under way; nil behind its end.
    let flow: ProbeFlow?
    /// The tokens, behind the end of the sign-in.
    let tokens: Tokens?
    private let call: Call?
    /// The call that is held; nil behind the end of the sign-in.
    var held: Call? { call }

    /// Prepares a place.
    init(at place: WrongOnPurpose.Place, in lab: Lab) async throws(ProbeFault) {
        switch place {
        case .start: (flow, call) = try await Self.before(.start, in: lab)
        case .faceToken: (flow, call) = try await Self.before(.faceToken, in: lab)
        case .completion: (flow, call) = try await Self.before(.completion, in: lab)
        case .token: (flow, call) = try await Self.before(.token, in: lab)
        case .attempt:
            let flow = ProbeFlow(lab, scans: [false])
            self.flow = flow
            call = try await flow.advance(to: .attempt)
        case .abort: throw .own("no probe begins before an abort")
        case .refresh, .api:
            (flow, call) = (nil, nil)
            let tokens = try await ProbeFlow(lab).finish()
            self.tokens = tokens
            if place == .refresh, tokens.refresh == nil {
                throw .missing("the application gets no refresh token: allow it the scope offline_access")
            }
            if place == .api, lab.setup.api == nil { throw .missing("no resource API was given: --api URL") }
            isAPI = place == .api
            return
        }
        tokens = nil
        isAPI = false
    }

    private let isAPI: Bool

    private static func before(
        _ purpose: Call.Purpose, in lab: Lab
    ) async throws(ProbeFault) -> (ProbeFlow, Call) {
        let flow = ProbeFlow(lab)
        return (flow, try await flow.advance(to: purpose))
    }

    /// The right request of this place, with a proof made now.
    ///
    /// A start that brings evidence brings a new piece each time.
    func request(in lab: Lab) async throws(ProbeFault) -> ClientRequest {
        if let call { return try lab.request(try await lab.vouchedAnew(call)) }
        guard let tokens else { throw .own("the stage has neither a call nor tokens") }
        return isAPI ? try lab.apiRequest(tokens.access) : try lab.request(lab.refreshCall(tokens))
    }
}

/// What a sign-in was given.
struct Tokens: Sendable {
    let access: String
    let refresh: String?
    let idToken: Bool
}

extension Lab {
    /// A refresh with the tokens' refresh token.
    func refreshCall(_ tokens: Tokens) -> Call { refreshCall(tokens.refresh ?? "") }

    /// A refresh with a token.
    func refreshCall(_ token: String) -> Call {
        formCall(.refresh, to: setup.metadata.tokenEndpoint, GrantRequests.refresh(token, clientID: setup.clientID))
    }

    /// A call with a form of the run's own.
    func formCall(_ purpose: Call.Purpose, to url: HTTPURL, _ form: FormFields) -> Call {
        Call(
            purpose: purpose, attempt: 1, url: url.text, body: .form(form), needsDPoP: purpose != .revocation,
            bestEffort: false)
    }

    /// A call of the API with a bound token.
    func apiRequest(
        _ token: String, path: String? = nil, htu: String? = nil, by other: ProbePhone? = nil
    ) throws(ProbeFault) -> ClientRequest {
        guard let api = setup.api else { throw .missing("no resource API was given: --api URL") }
        let url = try own("the address at the API") { try api.appending(path: path ?? setup.apiPath) }
        var request = ClientRequest(url: url, fields: HTTPFields([("Accept", "application/json")]))
        request.fields.append("Authorization", "DPoP " + token)
        request.fields.append("DPoP", try proof(for: request, by: other ?? phone, token: token, htu: htu))
        return request
    }

    /// Calls the API rightly, with a nonce once it is asked for.
    func callAPI(_ token: String) async throws(ProbeFault) -> Answer {
        let answer = try await fire(try apiRequest(token))
        guard answer.error == "use_dpop_nonce" else { return answer }
        return try await fire(try apiRequest(token))
    }

    /// Refreshes rightly.
    func refresh(_ token: String) async throws(ProbeFault) -> Answer { try await exchange(refreshCall(token)) }
}
