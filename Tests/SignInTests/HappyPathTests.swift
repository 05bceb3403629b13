import Device
import Encoding
import JOSE
import OAuth
import SignIn
import Testing

@Suite struct HappyPathTests {
    @Test func `a sign-in makes the four calls in order and stores one session`() throws {
        var script = Script()
        #expect(script.state == .idle)
        #expect(try script.start() == ["discover"])
        #expect(script.state == .starting)
        #expect(try script.send(.discovered(script.awaited(), Phone.serverMetadata())) == ["call(start)"])
        #expect(script.state == .starting)
        #expect(try script.respond(Replies.started) == ["signCeremony(face-token)"])
        #expect(script.state == .fetchingFaceToken)
        #expect(try script.send(.ceremonySigned(script.awaited(), jws: "a.b.c")) == ["call(faceToken)"])
        #expect(try script.respond(Replies.faceToken()) == ["capture"])
        #expect(script.state == .awaitingFace(attemptsLeft: 3, lastOutcome: nil))
        #expect(try script.capture(.live(SampleID(rawValue: "self"))) == ["openFaceToken"])
        #expect(script.state == .checkingFace(attemptsLeft: 3))
        #expect(try script.send(.faceTokenOpened(script.awaited())) == ["rotateFaceToken"])
        #expect(script.state == .postingResult)
        let rotated = Event.faceTokenRotated(try script.awaited(), sealed: Phone.shared.rotated)
        #expect(try script.send(rotated) == ["signCeremony(complete)"])
        #expect(try script.send(.ceremonySigned(script.awaited(), jws: "d.e.f")) == ["call(completion)"])
        #expect(try script.respond(Replies.code()) == ["call(token)"])
        #expect(try script.respond(Replies.tokens()) == ["commit"])
        #expect(script.state == .postingResult)
        #expect(!script.flow.isFinished)
        #expect(try script.send(.committed(script.awaited())) == ["done"])
        guard case .signedIn(let summary) = script.state else { throw Unexpected.state(script.state.name) }
        #expect(summary.subject == "user-1")
        #expect(summary.email == "ada@acme.example")
        #expect(summary.scope == ["openid", "email", "offline_access"])
        #expect(summary.canRefresh)
        #expect(summary.expiresAt == Phone.now.adding(seconds: 300))
        #expect(script.flow.isFinished)
        #expect(script.flow.notes.isEmpty)
    }

    @Test func `the start names everything the session is bound to`() throws {
        var config = Phone.shared.config
        config.resource = "https://api.acme.example"
        config.loginHint = "ada@acme.example"
        var script = Script(config: config)
        try script.advance(to: "call(start)")
        let call = try #require(script.calls(.start).first)
        #expect(call.url == "https://acme.idp.example/oauth2/challenge")
        #expect(call.needsDPoP)
        #expect(!call.bestEffort)
        guard case .form(let form) = call.body else { throw Unexpected.body }
        let expected = [
            "response_type": "code", "client_id": "app_demo", "scope": "openid email offline_access",
            "resource": "https://api.acme.example", "login_hint": "ada@acme.example",
            "nonce": Phone.shared.secrets.nonce, "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            "code_challenge_method": "S256",
        ]
        #expect(form.fields.count == expected.count)
        for (name, value) in expected { #expect(form[name] == value, "\(name)") }
    }

    @Test func `no scopes asked for means openid`() throws {
        var config = Phone.shared.config
        config.scopes = []
        var script = Script(config: config)
        try script.advance(to: "call(start)")
        guard case .form(let form) = try #require(script.calls(.start).first).body else { throw Unexpected.body }
        #expect(form["scope"] == "openid")
        #expect(form["resource"] == nil)
        #expect(form["login_hint"] == nil)
    }

    @Test func `every ceremony names the session, the challenge and the install key`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        let signed = script.effects.compactMap { effect -> (CeremonyClaims, CeremonyKey)? in
            if case .signCeremony(let claims, let key) = effect.action { (claims, key) } else { nil }
        }
        #expect(
            signed.map(\.0.act) == [
                .faceToken, .complete(generation: 3, faceTokenHash: CeremonyHash.of(Phone.shared.rotated)),
            ])
        for (claims, key) in signed {
            #expect(key == .enrolment(kid: Phone.shared.kid))
            #expect(claims.issuer == Phone.issuer)
            #expect(claims.ceremony == "ceremony-1")
            #expect(claims.challenge == "challenge-1")
            #expect(claims.authSessionHash == CeremonyHash.of(ascii: Secret.session))
            #expect(claims.installThumbprint == Phone.shared.thumbprint)
        }
    }

    @Test func `the ceremony calls carry a JWS and no DPoP proof`() throws {
        var script = Script()
        try script.advance(to: "capture")
        let call = try #require(script.calls(.faceToken).first)
        #expect(call.url == "https://acme.idp.example/device-ceremony/face-token")
        #expect(!call.needsDPoP)
        #expect(call.body == .json(["request": .string(Secret.proof + ".face-token")]))
        #expect(call.body.mediaType == "application/json")
    }

    @Test func `the completion carries the proof and the rotated face token, the token call no redirect`() throws {
        var script = Script()
        try script.advance(to: "commit")
        guard case .form(let completion) = try #require(script.calls(.completion).first).body else {
            throw Unexpected.body
        }
        #expect(completion["response_type"] == "code")
        #expect(completion["client_id"] == "app_demo")
        #expect(completion["auth_session"] == Secret.session)
        #expect(completion["ceremony_proof"] == Secret.proof + ".complete")
        #expect(completion["face_token"] == Base64URL.encode(Phone.shared.rotated))
        #expect(completion.fields.count == 5)
        let call = try #require(script.calls(.token).first)
        #expect(call.url == "https://acme.idp.example/oauth2/token")
        guard case .form(let token) = call.body else { throw Unexpected.body }
        #expect(token["grant_type"] == "authorization_code")
        #expect(token["code"] == Secret.code)
        #expect(token["code_verifier"] == Phone.shared.secrets.codeVerifier)
        #expect(token["client_id"] == "app_demo")
        #expect(token["redirect_uri"] == nil)
    }

    @Test func `the stored session holds what the server answered, for refresh and sign-out`() throws {
        var script = Script()
        try script.advance(to: "commit")
        guard case .commit(let session) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(session.issuer == Phone.issuer)
        #expect(session.clientID == "app_demo")
        #expect(session.refreshToken == Secret.refreshToken)
        #expect(session.expiresAt == Phone.now.adding(seconds: 300))
        #expect(session.createdAt == Phone.now)
        #expect(session.subject == "user-1")
        #expect(try JSON(parsing: #require(session.claims))["email"] == "ada@acme.example")
        #expect(session.tokenEndpoint == "https://acme.idp.example/oauth2/token")
        #expect(session.revocationEndpoint == "https://acme.idp.example/oauth2/revoke")
    }

    @Test func `without a hint the newest enrolment at this issuer signs`() throws {
        var facts = Phone.shared.facts
        facts.enrolments.insert(.init(issuer: Phone.issuer, email: "old@acme.example", kid: "old"), at: 0)
        facts.enrolments.append(.init(issuer: "https://other.example", email: "ada@acme.example", kid: "other"))
        var script = Script()
        try script.start(facts)
        try script.advance(to: "signCeremony(face-token)")
        guard case .signCeremony(_, let key) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(key == .enrolment(kid: Phone.shared.kid))
    }

    @Test func `a hint picks its enrolment without regard to case`() throws {
        var config = Phone.shared.config
        config.loginHint = "Old@acme.example"
        var facts = Phone.shared.facts
        facts.enrolments.insert(.init(issuer: Phone.issuer, email: "old@Acme.example", kid: "old"), at: 0)
        var script = Script(config: config)
        try script.start(facts)
        try script.advance(to: "signCeremony(face-token)")
        guard case .signCeremony(_, let key) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(key == .enrolment(kid: "old"))
    }

    @Test(arguments: [400, 401]) func `a challenge with an earlier draft's status is borne and noted`(
        status: Int
    ) throws {
        var script = Script()
        try script.advance(to: "call(start)")
        #expect(try script.respond(Replies.json(status, Replies.challenge)) == ["signCeremony(face-token)"])
        #expect(
            script.flow.notes == [
                try stored(
                    #require(script.flow.notes.first))
            ])
        #expect(script.flow.notes.first?.rule == "oauth.challenge.status")
        #expect(script.flow.notes.first?.actual == "\(status)")
    }
}

/// Something a script did not expect, where `#expect` has no value to compare.
enum Unexpected: Error {
    case state(String)
    case body
}
