import Device
import Encoding
import OAuth
import SignIn
import Testing

/// One refresh as a value: SenseCrypt description, "Session length and refresh" and "Refresh errors".
@Suite struct SessionRefreshTests {
    private let session = RefreshScript.session

    @Test func `a session without refresh token has no refresh`() {
        var session = session
        session.refreshToken = nil
        #expect(SessionRefresh(of: session, installThumbprint: "x") == nil)
    }

    @Test func `the call is the refresh grant at the stored token endpoint, with a proof`() throws {
        var script = try RefreshScript()
        let call = try script.start()
        #expect(call.purpose == .refresh)
        #expect(call.url == session.tokenEndpoint)
        #expect(call.needsDPoP)
        #expect(!call.bestEffort)
        guard case .form(let form) = call.body else {
            Issue.record("not a form")
            return
        }
        #expect(form["grant_type"] == "refresh_token")
        #expect(form["refresh_token"] == session.refreshToken)
        #expect(form["client_id"] == "app_demo")
        #expect(form.fields.count == 3)
    }

    @Test func `the successor is stored before it may be used, and only then the refresh is renewed`() throws {
        var script = try RefreshScript()
        try script.start()
        #expect(try script.respond(RefreshScript.renewed()) == ["replace"])
        let successor = try #require(script.replacement)
        #expect(successor.refreshToken == "successor")
        #expect(successor.accessToken != session.accessToken)
        #expect(successor.expiresAt == script.now.adding(seconds: 300))
        #expect(successor.createdAt == session.createdAt)
        #expect(script.outcome == nil)
        #expect(try script.send { .stored($0) } == ["finish"])
        #expect(script.outcome == .renewed(successor))
    }

    @Test func `what the answer does not say stays as it was`() throws {
        var script = try RefreshScript()
        try script.start()
        try script.respond(RefreshScript.renewed(["refresh_token": .null, "scope": .null, "id_token": .null]))
        let successor = try #require(script.replacement)
        #expect(successor.refreshToken == session.refreshToken)
        #expect(successor.scope == session.scope)
        #expect(successor.claims == session.claims)
        #expect(successor.subject == session.subject)
    }

    @Test func `a nonce challenge is answered once with the same body`() throws {
        var script = try RefreshScript()
        let first = try script.start()
        #expect(try script.respond(Replies.nonceWanted) == ["call(refresh)"])
        #expect(script.calls == [first, first])
        #expect(try script.respond(Replies.nonceWanted) == ["finish"])
        #expect(script.error?.name == "Server")
    }

    @Test func `a nonce challenge without a nonce is the server's failure`() throws {
        var script = try RefreshScript()
        try script.start()
        try script.respond(Replies.error(400, "use_dpop_nonce"))
        #expect(script.error?.name == "Server")
    }

    @Test func `a lost call is a network failure, and is not made again`() throws {
        var script = try RefreshScript()
        try script.start()
        #expect(try script.send { .lost($0, detail: "connection reset") } == ["finish"])
        #expect(script.error?.name == "Network")
        #expect(script.calls.count == 1)
    }

    @Test(arguments: [
        CallResponse(status: 500, mediaType: nil, body: []), CallResponse(status: 503, mediaType: nil, body: []),
        CallResponse(status: 429, mediaType: nil, retryAfter: "3", body: []), Replies.html, Replies.json(200, []),
        Replies.json(200, [:]), Replies.error(401, "invalid_client"), Replies.error(400, "invalid_request"),
        Replies.error(400, "unauthorized_client"), Replies.error(400, "invalid_dpop_proof"),
        Replies.error(418, "teapot"), CallResponse(status: 302, mediaType: nil, body: []),
        CallResponse(status: 204, mediaType: nil, body: []), Replies.json(400, [:]), Replies.json(400, ["error": 3]),
    ])
    func `an answer that cannot be used is the server's failure and changes nothing`(answer: CallResponse) throws {
        var script = try RefreshScript()
        try script.start()
        #expect(try script.respond(answer) == ["finish"])
        #expect(script.error?.name == "Server")
    }

    @Test func `invalid_grant forgets the stored tokens and asks for a sign-in`() throws {
        var script = try RefreshScript()
        try script.start()
        #expect(try script.respond(Replies.error(400, "invalid_grant")) == ["end"])
        #expect(try script.send { .stored($0) } == ["finish"])
        #expect(script.error?.name == "SignInRequired")
    }

    @Test func `an install key that cannot sign ends the session`() throws {
        var script = try RefreshScript()
        try script.start()
        #expect(try script.send { .keyUnavailable($0) } == ["end"])
        try script.send { .notStored($0) }
        #expect(script.error?.name == "SignInRequired")
    }

    @Test(
        arguments: [
            ["token_type": "Bearer"], ["access_token": "a b"], ["expires_in": 0], ["id_token": "no token"],
            ["access_token": .string(RefreshScript.otherKeysToken)], ["id_token": .string(RefreshScript.otherSubject)],
            ["id_token": .string(RefreshScript.otherAudience)],
        ] as [[String: JSON]])
    func `an answer that cannot be believed is not stored, and a token it spends is forgotten`(
        changes: [String: JSON]
    ) throws {
        var script = try RefreshScript()
        try script.start()
        #expect(try script.respond(RefreshScript.renewed(changes)) == ["replace"])
        var rest = session
        rest.refreshToken = nil
        #expect(script.replacement == rest)
        try script.send { .stored($0) }
        #expect(script.error?.name == "Server")

        var unspent = changes
        unspent["refresh_token"] = .null
        var other = try RefreshScript()
        try other.start()
        #expect(try other.respond(RefreshScript.renewed(unspent)) == ["finish"])
        #expect(other.error?.name == "Server")
    }

    @Test func `a session that changed meanwhile wins, and the successor is revoked`() throws {
        var script = try RefreshScript()
        try script.start()
        try script.respond(RefreshScript.renewed())
        #expect(try script.send { .superseded($0) } == ["revoke", "finish"])
        #expect(script.outcome == .superseded)
        #expect(script.revoked == ["successor"])
    }

    @Test func `a successor that cannot be stored is not used but revoked`() throws {
        var script = try RefreshScript()
        try script.start()
        try script.respond(RefreshScript.renewed())
        #expect(try script.send { .notStored($0) } == ["revoke", "finish"])
        #expect(script.error?.name == "Server")
        #expect(script.revoked == ["successor"])
    }

    @Test func `no description shows a token`() throws {
        var script = try RefreshScript()
        let call = try script.start()
        try script.respond(RefreshScript.renewed())
        let successor = try #require(script.replacement)
        let secrets = ["successor", Secret.refreshToken, session.accessToken, successor.accessToken]
        let shown = [
            "\(script.refresh)", String(reflecting: script.refresh), "\(script.last)", String(reflecting: script.last),
            "\(call)", "\(RefreshEvent.responded(EffectID(rawValue: 1), RefreshScript.renewed()))",
        ]
        for text in shown { for secret in secrets { #expect(!text.contains(secret), "\(text)") } }
    }

    /// Whatever comes in whatever order: it ends, it sends twice at most, it replaces or ends once at most, and what is
    /// reported renewed was stored.
    @Test func `thousands of random refreshes keep the rules`() throws {
        for seed in 0..<4000 {
            var dice = Dice(seed: UInt64(seed))
            var script = try RefreshScript()
            try script.start()
            var stored: TokenSession? = session
            for _ in 0..<12 where script.outcome == nil {
                let names = script.last.map(\.action.name)
                // A late or repeated answer changes nothing.
                let before = script.refresh
                #expect(try script.sendStale().isEmpty)
                #expect(script.refresh == before)
                if names.contains("call(refresh)") {
                    switch Int.random(in: 0..<4, using: &dice) {
                    case 0: try script.respond(RefreshScript.renewed())
                    case 1: try script.respond(Replies.nonceWanted)
                    case 2: try script.send { .lost($0, detail: "gone") }
                    default:
                        try script.respond(
                            dice.pick([Replies.html, Replies.error(400, "invalid_grant"), RefreshScript.bearer]))
                    }
                } else if dice.chance(70) {
                    if names.contains("replace") { stored = script.replacement }
                    if names.contains("end") { stored = nil }
                    try script.send { .stored($0) }
                } else {
                    try script.send { dice.chance(50) ? .superseded($0) : .notStored($0) }
                }
            }
            let outcome = try #require(script.outcome)
            #expect(script.refresh.isFinished)
            #expect(script.calls.count <= 2)
            #expect(script.calls.allSatisfy { $0.body == script.calls.first?.body })
            #expect(script.writes <= 1)
            if case .renewed(let renewed) = outcome { #expect(stored == renewed) }
        }
    }
}

/// A refresh under test: events in, effects out.
struct RefreshScript {
    private(set) var refresh: SessionRefresh
    private(set) var last: [RefreshEffect] = []
    private(set) var calls: [Call] = []
    private(set) var writes = 0
    private(set) var revoked: [String] = []
    private(set) var replacement: TokenSession?
    private(set) var outcome: RefreshOutcome?
    let now = Phone.now

    static let session = TokenSession(
        issuer: Phone.issuer, clientID: "app_demo", resource: nil, accessToken: "the-old-access-token",
        expiresAt: Phone.now, refreshToken: Secret.refreshToken, scope: ["openid", "offline_access"],
        claims: #"{"sub":"user-1"}"#, subject: "user-1", createdAt: Phone.now.adding(seconds: -300),
        tokenEndpoint: "https://acme.idp.example/oauth2/token",
        revocationEndpoint: "https://acme.idp.example/oauth2/revoke")

    /// The answer of a server that rotates, an ID token without nonce in it; members given replace or remove.
    static func renewed(_ changes: [String: JSON] = [:]) -> CallResponse {
        made {
            let idToken = JSON.string(try Replies.idToken(["nonce": .null]))
            return try Replies.tokens(["id_token": idToken, "refresh_token": "successor"].merging(changes) { $1 })
        }
    }

    static let bearer = renewed(["token_type": "Bearer"])
    static let otherKeysToken = made { try Replies.accessToken(jkt: "another") }
    static let otherSubject = made { try Replies.idToken(["nonce": .null, "sub": "user-2"]) }
    static let otherAudience = made { try Replies.idToken(["nonce": .null, "aud": "app_other"]) }

    private static func made<T>(_ make: () throws -> T) -> T {
        do { return try make() } catch { preconditionFailure("the fixture cannot be made: \(error)") }
    }

    init() throws {
        refresh = try #require(SessionRefresh(of: Self.session, installThumbprint: Phone.shared.thumbprint))
    }

    var error: RefreshError? {
        if case .failed(let error) = outcome { error } else { nil }
    }

    @discardableResult
    mutating func start() throws -> Call {
        take(refresh.handle(.start, at: now))
        return try #require(calls.last)
    }

    @discardableResult
    mutating func respond(_ response: CallResponse) throws -> [String] { try send { .responded($0, response) } }

    /// Answers the effect that is awaited.
    @discardableResult
    mutating func send(_ event: (EffectID) -> RefreshEvent) throws -> [String] {
        let awaited = try #require(last.first).id
        return take(refresh.handle(event(awaited), at: now))
    }

    /// Answers an effect nobody waits for.
    mutating func sendStale() throws -> [RefreshEffect] {
        refresh.handle(.stored(EffectID(rawValue: 99)), at: now) + refresh.handle(.start, at: now)
    }

    @discardableResult
    private mutating func take(_ effects: [RefreshEffect]) -> [String] {
        last = effects
        for effect in effects {
            switch effect.action {
            case .call(let call): calls.append(call)
            case .replace(let session):
                replacement = session
                writes += 1
            case .end: writes += 1
            case .revoke(let call):
                if case .form(let form) = call.body { revoked.append(form["token"] ?? "") }
            case .finish(let end): outcome = end
            }
        }
        return effects.map(\.action.name)
    }
}
