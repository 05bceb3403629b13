import Device
import Encoding
import OAuth
import SignIn
import Testing

/// What a redirect must be like before its code is believed.
@Suite struct OAuthRedirectTests {
    @Test(
        arguments: [
            ["state": "another"], ["state": nil], ["iss": "https://evil.example"], ["iss": "https://acme.idp.example/"],
            ["iss": nil], ["code": nil], ["code": ""],
        ] as [[String: String?]])
    func `a redirect that is not this flow's is refused, and its code stays unused`(
        changes: [String: String?]
    ) throws {
        var script = OAuthScript()
        try script.authorize()
        #expect(try script.redirect(to: OAuthScript.redirect(changes)) == ["done"])
        #expect(script.failure?.reason == "invalidRedirect")
        #expect(script.calls(.token).isEmpty)
    }

    @Test func `iss is demanded only of a server that promises it, and compared whenever it comes`() throws {
        let silent = try OAuthScript.metadata(["authorization_response_iss_parameter_supported": .null])
        var script = OAuthScript()
        try script.authorize(silent)
        #expect(try script.redirect(to: OAuthScript.redirect(["iss": nil])) == ["call(token)"])
        var mixed = OAuthScript()
        try mixed.authorize(silent)
        try mixed.redirect(to: OAuthScript.redirect(["iss": "https://evil.example"]))
        #expect(mixed.failure?.reason == "invalidRedirect")
    }

    @Test(arguments: ["code", "state", "iss"])
    func `a parameter that comes twice is refused`(name: String) throws {
        var script = OAuthScript()
        try script.authorize()
        try script.redirect(to: OAuthScript.redirect() + "&\(name)=again")
        #expect(script.failure == .invalidRedirect(message: "the redirect has \(name) twice"))
    }

    @Test(arguments: [
        ("access_denied", "notAllowed"), ("unauthorized_client", "notAllowed"), ("invalid_scope", "server"),
        ("server_error", "server"), ("login_required", "server"), ("of_tomorrow", "server"),
    ])
    func `an error redirect ends the flow with the server's words`(error: String, reason: String) throws {
        var script = OAuthScript()
        try script.authorize()
        let location = OAuthScript.redirect(["code": nil, "error": error, "error_description": "because"])
        #expect(try script.redirect(to: location) == ["done"])
        #expect(script.failure?.reason == reason)
        #expect(script.failure?.message.hasSuffix("\(error) (because)") == true)
    }

    @Test func `an error redirect of somebody else is not believed either`() throws {
        var script = OAuthScript()
        try script.authorize()
        try script.redirect(to: OAuthScript.redirect(["code": nil, "error": "access_denied", "state": "another"]))
        #expect(script.failure?.reason == "invalidRedirect")
    }
}

/// The token request and what its answer must be like.
@Suite struct OAuthTokenTests {
    @Test func `the token request names code, redirect URI, verifier and resource, and is proved`() throws {
        var script = OAuthScript(config: OAuthScript.config(resource: "https://api.example"))
        try script.redeem()
        let call = try #require(script.calls(.token).first)
        #expect(call.url == "https://acme.idp.example/token")
        #expect(call.needsDPoP)
        let form = try #require(call.form)
        #expect(form["grant_type"] == "authorization_code")
        #expect(form["code"] == Secret.code)
        #expect(form["redirect_uri"] == OAuthScript.redirectURI)
        #expect(form["client_id"] == "app_demo")
        #expect(form["code_verifier"] == OAuthScript.secrets.codeVerifier)
        #expect(form["resource"] == "https://api.example")
        #expect(form.pairs.count == 6)
    }

    @Test(arguments: [400, 401])
    func `a nonce challenge is answered once with the same request, whatever its status`(status: Int) throws {
        var script = OAuthScript()
        try script.redeem()
        #expect(try script.respond(Replies.error(status, "use_dpop_nonce", nonce: "n1")) == ["call(token)"])
        #expect(script.calls(.token)[0] == script.calls(.token)[1])
        #expect(try script.respond(Replies.error(status, "use_dpop_nonce", nonce: "n2")) == ["done"])
        #expect(script.failure?.reason == "server")
    }

    @Test func `a nonce challenge without a nonce is the server's failure`() throws {
        var script = OAuthScript()
        try script.redeem()
        #expect(try script.respond(Replies.error(400, "use_dpop_nonce")) == ["done"])
        #expect(script.failure?.reason == "server")
    }

    @Test func `a lost token request is sent once more with the same code`() throws {
        var script = OAuthScript()
        try script.redeem()
        #expect(try script.lose() == ["call(token)"])
        #expect(script.calls(.token)[0].body == script.calls(.token)[1].body)
        #expect(script.calls(.token).map(\.attempt) == [1, 2])
        #expect(try script.respond(Replies.goodTokens) == ["commit"])

        var lost = OAuthScript()
        try lost.redeem()
        try lost.lose()
        #expect(try lost.lose() == ["done"])
        #expect(lost.failure?.reason == "network")
    }

    @Test func `a code that a lost request spent is the network's failure, not the server's`() throws {
        var script = OAuthScript()
        try script.redeem()
        try script.lose()
        #expect(try script.respond(Replies.error(400, "invalid_grant")) == ["done"])
        #expect(script.failure?.reason == "network")
    }

    @Test(arguments: [
        (Replies.error(400, "invalid_grant"), "server"), (Replies.error(400, "invalid_dpop_proof"), "server"),
        (Replies.error(401, "invalid_client"), "notAllowed"), (Replies.html, "server"),
        (CallResponse(status: 503, mediaType: nil, body: []), "server"),
        (CallResponse(status: 429, mediaType: nil, retryAfter: "5", body: []), "rateLimited"),
    ])
    func `a refused token request has its reason`(response: CallResponse, reason: String) throws {
        var script = OAuthScript()
        try script.redeem()
        #expect(try script.respond(response).last == "done")
        #expect(script.failure?.reason == reason)
    }

    @Test(
        arguments: [
            ["token_type": "Bearer"], ["id_token": .string("not.a.token")], ["access_token": "two words"],
        ] as [[String: JSON]])
    func `tokens that cannot be trusted are revoked and nothing is stored`(changes: [String: JSON]) throws {
        var script = OAuthScript()
        try script.redeem()
        #expect(try script.respond(Replies.tokens(changes)) == ["call(revocation)"])
        #expect(script.failure != nil)
        #expect(script.calls(.revocation).first?.form?["token"] == Secret.refreshToken)
        #expect(try script.respond(Replies.revoked) == ["done"])
    }

    @Test(arguments: [nil, "another-key"])
    func `a readable access token must name the install's key`(jkt: String?) throws {
        var script = OAuthScript()
        try script.redeem()
        let token = try Replies.accessToken(jkt: jkt)
        #expect(try script.respond(Replies.tokens(["access_token": .string(token)])) == ["call(revocation)"])
        #expect(script.failure?.reason == "invalidIdToken")
    }

    @Test(arguments: ["DPoP", "dpop", "DPOP"])
    func `token_type is compared without regard to case`(type: String) throws {
        var script = OAuthScript()
        try script.redeem()
        #expect(try script.respond(Replies.tokens(["token_type": .string(type)])) == ["commit"])
    }

    @Test func `an opaque access token is taken as it is`() throws {
        var script = OAuthScript()
        try script.redeem()
        #expect(try script.respond(Replies.tokens(["access_token": "opaque-token"])) == ["commit"])
    }

    @Test func `a server that issues no ID token leaves the user without a name`() throws {
        var script = OAuthScript()
        try script.redeem()
        try script.respond(
            Replies.json(200, ["access_token": "opaque", "token_type": "DPoP", "expires_in": 60, "id_token": .null]))
        guard case .commit(let session) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(session.subject == nil)
        #expect(session.claims == nil)
        #expect(session.scope == ["openid", "email"])
        #expect(session.tokenEndpoint == "https://acme.idp.example/token")
        #expect(session.revocationEndpoint == "https://acme.idp.example/revoke")
        try script.send(.committed(script.awaited()))
        guard case .signedIn(let summary) = script.state else { throw Unexpected.body }
        #expect(summary.subject == nil)
        #expect(!summary.canRefresh)
    }

    @Test(arguments: [["nonce": "another"], ["aud": "another"], ["iss": "https://evil.example"]] as [[String: JSON]])
    func `an ID token that came is checked`(changes: [String: JSON]) throws {
        var script = OAuthScript()
        try script.redeem()
        let idToken = try Replies.idToken(changes)
        #expect(try script.respond(Replies.tokens(["id_token": .string(idToken)])) == ["call(revocation)"])
        #expect(script.failure?.reason == "invalidIdToken")
    }

    @Test func `a token without a stated end is taken to live an hour`() throws {
        var script = OAuthScript()
        try script.redeem()
        try script.respond(Replies.json(200, ["access_token": "opaque", "token_type": "DPoP", "scope": ""]))
        guard case .commit(let session) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(session.expiresAt == Phone.now.adding(seconds: 3600))
    }
}

/// Cancelling, killing and losing, anywhere.
@Suite struct OAuthFaultTests {
    enum Fault: CaseIterable { case lost, killed, killedTwice, cancelled, keyGone, unavailable }

    private func answer(_ effect: AuthorizationCodeSignIn.Effect, _ fault: Fault) -> AuthorizationCodeSignIn.Event? {
        let down = CallResponse(status: 503, mediaType: nil, body: [])
        return switch (fault, effect.action) {
        case (.lost, .discover), (.lost, .visit), (.lost, .call): .lost(effect.id, detail: "gone")
        case (.lost, .listen), (.lost, .awaitBrowser): .browserFailed(effect.id, detail: "gone")
        case (.cancelled, _): .cancel
        case (.keyGone, .call), (.keyGone, .commit): .keyUnavailable(effect.id)
        case (.unavailable, .discover): .discoveryFailed(effect.id, .unavailable(status: 503, retryAfter: nil))
        case (.unavailable, .visit): .visited(effect.id, down, location: nil)
        case (.unavailable, .call): .responded(effect.id, down)
        default: nil
        }
    }

    /// Runs a flow with a fault at the effect of this number; nil when it has fewer effects.
    private func run(_ door: BrowserDoor, _ fault: Fault, at number: Int, badTokens: Bool) throws -> OAuthScript? {
        var script = OAuthScript(door)
        try script.start()
        var answered = 0
        var isHit = false
        for _ in 0..<60 where !script.flow.isFinished {
            let effect = try #require(script.open.first, "the flow hangs: \(script.flow)")
            answered += 1
            if answered == number {
                isHit = true
                if fault == .killed || fault == .killedTwice {
                    try script.killAndResume()
                    if fault == .killedTwice { try script.killAndResume() }
                    continue
                }
                if let event = answer(effect, fault) {
                    try script.send(event)
                    continue
                }
            }
            if badTokens, case .call(let call) = effect.action, call.purpose == .token {
                try script.send(.responded(effect.id, Replies.bearerTokens))
            } else {
                try script.send(try #require(try OAuthScript.good(effect)))
            }
        }
        #expect(script.flow.isFinished, "\(door), \(fault) at \(number) hangs: \(script.flow)")
        #expect(script.effects.filter { $0.action == .done }.count == 1, "\(door), \(fault) at \(number)")
        return isHit ? script : nil
    }

    @Test(arguments: [OAuthScript.direct, .browser(redirectURI: nil)], [false, true])
    func `a fault at any effect ends signed in or in a stated failure`(door: BrowserDoor, badTokens: Bool) throws {
        for fault in Fault.allCases {
            var number = 1
            while let script = try run(door, fault, at: number, badTokens: badTokens) {
                #expect(script.state.isTerminal)
                #expect(badTokens ? script.failure != nil : true)
                number += 1
            }
            #expect(number > 4, "the way was walked")
        }
    }

    @Test func `one loss or kill anywhere on the direct way still signs in`() throws {
        for fault in [Fault.lost, .killed] {
            var number = 1
            while let script = try run(OAuthScript.direct, fault, at: number, badTokens: false) {
                #expect(script.state.name == "signedIn", "\(fault) at \(number): \(script.state)")
                number += 1
            }
            #expect(number == 5)
        }
    }

    @Test func `a cancel before the tokens waits for them and revokes what comes`() throws {
        var script = OAuthScript()
        try script.redeem()
        let token = try script.awaited()
        #expect(try script.send(.cancel).isEmpty)
        #expect(script.failure == .cancelled)
        #expect(!script.flow.isFinished)
        #expect(try script.send(.responded(token, Replies.goodTokens)) == ["call(revocation)"])
        #expect(try script.lose() == ["call(revocation)"])
        #expect(try script.lose() == ["done"])
    }

    @Test func `a cancel while the session is stored is too late`() throws {
        var script = OAuthScript()
        try script.redeem()
        try script.respond(Replies.goodTokens)
        let commit = try script.awaited()
        #expect(try script.send(.cancel).isEmpty)
        #expect(try script.send(.committed(commit)) == ["done"])
        #expect(script.state.name == "signedIn")
    }

    @Test func `answers nobody waits for change nothing`() throws {
        var script = OAuthScript()
        try script.redeem()
        let before = script.flow
        let stale = EffectID(rawValue: 1)
        for event: AuthorizationCodeSignIn.Event in [
            .discovered(stale, try OAuthScript.metadata()), .lost(stale, detail: ""), .responded(stale, Replies.html),
            .redirected(stale, address: OAuthScript.redirect()), .committed(stale), .keyUnavailable(stale),
            .start(installThumbprint: "other", OAuthScript.secrets),
        ] {
            #expect(try script.send(event).isEmpty)
            #expect(script.flow == before)
        }
    }

    @Test func `nothing a flow prints tells a secret`() throws {
        var script = OAuthScript()
        try script.redeem()
        try script.respond(Replies.goodTokens)
        var texts: [String] = [String(describing: script.flow), String(reflecting: script.flow)]
        texts += script.effects.map { String(describing: $0) + String(reflecting: $0) }
        texts += script.effects.map { String(describing: $0.action) }
        texts.append(String(describing: OAuthScript.secrets))
        for text in texts {
            for secret in Secret.all + [OAuthScript.secrets.state] {
                #expect(!text.contains(secret))
            }
        }
    }
}
