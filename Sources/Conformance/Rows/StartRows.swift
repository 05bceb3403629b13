import Crypto
import Encoding
import Engine
import HTTP
import SignIn
import Transport

/// Starts: what they must say, and what they tell.
extension Row {
    static let starts: [Row] = [
        Row("start.dpop_jkt", "RFC 9449 10, M20", "dpop_jkt names the key of the proof") {
            lab, score async throws(ProbeFault) in
            try await score.attempt(.dpopJKTOther, at: .start, lab) { probe, answer in
                score.refused(probe, answer, [400], ["invalid_dpop_proof", "invalid_request"])
            }
        },
        Row("start.code_challenge", "RFC 7636 4.4.1, M23", "a start brings an S256 code challenge") {
            lab, score async throws(ProbeFault) in
            try await score.attempt(.noCodeChallenge, at: .start, lab) { probe, answer in
                score.refused(probe, answer, [400], ["invalid_request"])
                let hasURI = answer.json?["request_uri"] != nil
                score.check("\(probe): request_uri", !hasURI, expected: "none", got: hasURI ? "one" : "none")
            }
            let plain = try await lab.start { $0.set("code_challenge_method", "plain") }
            score.refused("plain at start", plain, [400], ["invalid_request"])
        },
        Row("start.scope", "RFC 6749 3.3", "scopes are those of the application") {
            lab, score async throws(ProbeFault) in
            let answer = try await lab.start { $0.set("scope", "openid conform-no-such-scope") }
            score.refused("an unknown scope", answer, [400], ["invalid_scope"])
        },
        Row("start.resource", "RFC 8707 2", "a resource is one of the application") {
            lab, score async throws(ProbeFault) in
            let answer = try await lab.start { $0.set("resource", "https://other.understudy.example/") }
            score.refused("another resource", answer, [400], ["invalid_target"])
        },
        Row("request.repeated", "RFC 6749 3.1", "no parameter comes twice") { lab, score async throws(ProbeFault) in
            let answer = try await lab.start { $0.append("client_id", lab.setup.clientID) }
            score.refused("client_id twice", answer, [400], ["invalid_request"])
        },
        Row("start.decoy", "wire 3", "a start looks the same whoever the hint names", decoy),
        Row("start.address_limit", "wire 3", "30 starts an hour for an address", addressLimit),
    ]

    private static func decoy(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let real = try await lab.start { $0.set("login_hint", lab.phone.email) }
        let decoy = try await lab.start { $0.set("login_hint", lab.strangerAddress) }
        score.accepted("a hint that names the phone's user", real)
        score.check(
            "a hint that names nobody", decoy.shape == real.shape, expected: real.shape, got: decoy.shape)
    }

    private static func addressLimit(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let address = lab.strangerAddress
        for number in 1...30 {
            let answer = try await lab.start(limited: false) { $0.set("login_hint", address) }
            guard answer.status != 429 else {
                return score.skip("start \(number) of an address nobody used was refused: another limit is in the way")
            }
        }
        let answer = try await lab.start(limited: false) { $0.set("login_hint", address) }
        score.check(
            "the 31st start of an address", answer.status == 429, expected: "429", got: answer.summary)
        guard answer.status == 429 else { return }
        let wait = answer.response.fields["Retry-After"]
        score.check(
            "its Retry-After", wait.flatMap { Int($0) } != nil, expected: "seconds", got: wait ?? "none",
            otherwise: .warn)
    }

    /// Which client asks.
    static let clients: [Row] = [
        Row("client.known", "RFC 6749 5.2", "the client is one of the tenant's") {
            lab, score async throws(ProbeFault) in
            for place in [WrongOnPurpose.Place.start, .completion, .token, .refresh] {
                try await score.attempt(.clientOther, at: place, lab) { probe, answer in
                    let also: [String] =
                        switch place {
                        case .start: []
                        case .completion: ["invalid_session"]
                        default: ["invalid_grant"]
                        }
                    score.refused(probe, answer, [401, 400], ["invalid_client", "unauthorized_client"] + also)
                }
            }
        },
        Row("completion.client", "wire 6, M22", "the client is the one that opened the session") {
            lab, score async throws(ProbeFault) in
            let other = try await lab.otherClient()
            let answer = try await lab.edited(.completion) { $0.set("client_id", other) }
            score.refused("another client at completion", answer, [400, 403], ["invalid_session", "access_denied"])
        },
        Row("code.client", "RFC 6749 4.1.3, M22", "the code was given to this client") {
            lab, score async throws(ProbeFault) in
            let other = try await lab.otherClient()
            let answer = try await lab.edited(.token) { $0.set("client_id", other) }
            score.refused("another client at token", answer, [400], ["invalid_grant"])
        },
        Row("refresh.client", "RFC 6749 6", "the refresh token was given to this client") {
            lab, score async throws(ProbeFault) in
            let other = try await lab.otherClient()
            let tokens = try await ProbeFlow(lab).finish()
            guard let refresh = tokens.refresh else { throw .missing("the application gets no refresh token") }
            let request = try lab.request(lab.refreshCall(refresh)) { $0.set("client_id", other) }
            score.refused("another client at refresh", try await lab.fire(request), [400], ["invalid_grant"])
        },
    ]
}

extension Lab {
    /// An address nobody has.
    var strangerAddress: String { "conform-" + Hex.encode(setup.entropy.bytes(8)) + "@nobody.example" }

    /// A start with another form, answered for a nonce where one is asked for.
    func start(limited: Bool = true, _ edit: (inout FormFields) -> Void) async throws(ProbeFault) -> Answer {
        let call = try await ProbeFlow(self).advance(to: .start)
        let answer = try await fire(try request(call, edit), limited: limited)
        guard answer.error == "use_dpop_nonce" else { return answer }
        return try await fire(try request(call, edit), limited: limited)
    }

    /// The call of a place with another form; the place is not used again where that went through.
    func edited(
        _ place: WrongOnPurpose.Place, _ edit: (inout FormFields) -> Void
    ) async throws(ProbeFault) -> Answer {
        let stage = try await stage(place)
        guard let call = stage.held else { throw .own("nothing is held at \(place.rawValue)") }
        let answer = try await fire(try request(call, edit))
        if answer.isAccepted { forgetStages() }
        return answer
    }
}

extension Answer {
    /// What can be seen of an answer without its random values: status, names of fields and members, and lengths.
    var shape: String {
        let fields = response.fields.map { $0.name.lowercased() }.sorted().joined(separator: ",")
        return "\(status) {\(json.map(Self.shape) ?? "")} [\(fields)]"
    }

    private static func shape(_ json: JSON) -> String {
        switch json {
        case .object(let object):
            object.members.map { "\($0.name):\(shape($0.value))" }.joined(separator: ",")
        case .string(let text): "text(\(text.utf8.count))"
        case .int(let number): "\(number)"
        default: json.kind
        }
    }
}
