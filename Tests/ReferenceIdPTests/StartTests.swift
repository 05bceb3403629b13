import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

@Suite struct StartTests {
    /// One way to spoil a start, and its answer.
    struct Spoiled: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: String
        let edit: @Sendable (inout [(String, String)]) -> Void

        init(_ name: String, _ answer: String, _ edit: @escaping @Sendable (inout [(String, String)]) -> Void) {
            testDescription = name
            self.answer = answer
            self.edit = edit
        }
    }

    static let spoiled: [Spoiled] = [
        Spoiled("no client", "400 invalid_request") { $0.drop("client_id") },
        Spoiled("empty client", "400 invalid_request") { $0.set("client_id", "") },
        Spoiled("unknown client", "401 invalid_client") { $0.set("client_id", "app_globex") },
        Spoiled("no response type", "400 invalid_request") { $0.drop("response_type") },
        Spoiled("another response type", "400 invalid_request") { $0.set("response_type", "token") },
        Spoiled("a parameter twice", "400 invalid_request") { $0.append(("client_id", "app_demo")) },
        Spoiled("an unknown parameter twice", "400 invalid_request") { $0 += [("x", "1"), ("x", "1")] },
        Spoiled("no challenge", "400 invalid_request") { $0.drop("code_challenge") },
        Spoiled("no challenge method, which means plain", "400 invalid_request") { $0.drop("code_challenge_method") },
        Spoiled("plain", "400 invalid_request") { $0.set("code_challenge_method", "plain") },
        Spoiled("a short challenge", "400 invalid_request") { $0.set("code_challenge", "abc") },
        Spoiled("a padded challenge", "400 invalid_request") {
            $0.set("code_challenge", String(repeating: "A", count: 42) + "=")
        },
        Spoiled("no nonce", "400 invalid_request") { $0.drop("nonce") },
        Spoiled("a session as well", "400 invalid_request") { $0.append(("auth_session", "abc")) },
        Spoiled("a ceremony proof as well", "400 invalid_request") { $0.append(("ceremony_proof", "a.b.c")) },
        Spoiled("unknown scope", "400 invalid_scope") { $0.set("scope", "openid payments") },
        Spoiled("blank scope", "400 invalid_scope") { $0.set("scope", " ") },
        Spoiled("another's resource", "400 invalid_target") { $0.set("resource", "https://else.example") },
        Spoiled("another dpop_jkt (M20)", "400 invalid_dpop_proof") {
            $0.append(("dpop_jkt", String(repeating: "A", count: 43)))
        },
    ]

    @Test(arguments: spoiled) func `a spoiled start is refused, opens nothing and leaves a finding`(_ spoiled: Spoiled)
        throws
    {
        let world = try World()
        let response = try Phone(world).start(edit: spoiled.edit)
        #expect(response.summary == spoiled.answer)
        #expect(try world.realm().sessions.count == 0)
        #expect(world.brokenRules.count == 1)
    }

    @Test func `a start answers with a session and its ceremony`() throws {
        let world = try World()
        let response = try Phone(world).start()
        let body = try response.json
        #expect(response.summary == "403 insufficient_authorization")
        #expect(body["expires_in"] == 300)
        #expect(try #require(body["auth_session"]?.string).utf8.count >= 43)
        #expect(try #require(body["ceremony"]?["id"]?.string).utf8.count >= 22)
        #expect(try #require(body["ceremony"]?["challenge"]?.string).utf8.count == 43)
        #expect(world.brokenRules.isEmpty)
    }

    @Test func `the scope is openid when none is sent`() throws {
        let phone = try Phone(try World()).enrol()
        #expect(try phone.start { $0.drop("scope") }.status == 403)
        #expect(try phone.fetchFaceToken().status == 200)
        #expect(try phone.complete().status == 200)
        #expect(try phone.redeem().json["scope"] == "openid")
    }

    @Test func `a right dpop_jkt is welcome`() throws {
        let phone = try Phone(try World())
        let jkt = phone.jkt
        #expect(try phone.start { $0.append(("dpop_jkt", jkt)) }.status == 403)
    }

    @Test func `a nonce is asked of a start only where the policy says so`() throws {
        let world = try World()
        let phone = try Phone(world)
        #expect(try phone.start().status == 403)
        world.manage("PATCH", "tenants/acme/policy", ["nonce_on_start": true])
        phone.nonce = nil
        #expect(try phone.start().status == 403)
        #expect(world.brokenRules == ["dpop.nonce.missing"])
    }

    @Test(arguments: FirstPartyRule.allCases)
    func `a withdrawn precondition stops every call at once`(rule: FirstPartyRule) throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        let other = try Phone(world, email: "bob@acme.example").enrol()
        try phone.completed()
        try other.signIn()
        let third = try Phone(world, email: "cy@acme.example").enrol().beginAndFetch()
        world.tamper { $0.withdraw(rule) }
        #expect(try phone.redeem().summary == "400 unauthorized_client")
        #expect(try other.refresh().summary == "400 unauthorized_client")
        #expect(try third.mismatch().summary == "400 unauthorized_client")
        #expect(try third.fetchFaceToken().summary == "400 unauthorized_client")
        #expect(try third.complete().summary == "400 unauthorized_client")
        #expect(try third.abort().summary == "400 unauthorized_client")
        #expect(try third.start().summary == "400 unauthorized_client")
        #expect(world.brokenRules.allSatisfy { $0 == "client.\(rule.rawValue)" })
        #expect(other.revoke(other.refreshToken).status == 200)
        #expect(try world.realm().grants.count == 0)
    }
}

extension Realm {
    /// Turns one precondition off for the demo application.
    mutating func withdraw(_ rule: FirstPartyRule) {
        guard var application = applications["app_demo"] else { return }
        switch rule {
        case .tenantApp: tenant.runsOwnApp = false
        case .dpop: application.requireDPoP = false
        case .noCertificateBinding: application.certificateBoundTokens = true
        case .optIn: application.firstPartyChallenge = false
        case .redirectURI: application.redirectURIs = []
        }
        applications["app_demo"] = application
    }
}
