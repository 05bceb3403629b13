import Crypto
import Encoding
import JOSE
import OAuth
import Testing

@Suite struct IDTokenTests {
    private static let now = Instant(seconds: 1_750_000_000)
    private let key: P256.PrivateKey

    init() throws { key = try P256.PrivateKey.generate(Entropy(seed: Array("id tokens".utf8))) }

    private var check: IDTokenCheck {
        IDTokenCheck(
            issuer: "https://idp.example", clientID: "app", nonce: .mustBe("n"), accessToken: "token", keys: nil)
    }

    private func token(
        _ changes: [String: JSON?] = [:], header: [String: JSON?] = [:], key: P256.PrivateKey? = nil
    ) throws -> String {
        var claims = JSONObject([
            ("iss", "https://idp.example"), ("sub", "user"), ("aud", "app"), ("nonce", "n"),
            ("iat", .int(Self.now.seconds)), ("exp", .int(Self.now.seconds + 300)), ("email", "a@idp.example"),
        ])
        for (name, value) in changes { claims[name] = value }
        var head = JSONObject([("alg", "ES256")])
        for (name, value) in header { head[name] = value }
        let input = JWS.signingInput(header: head, payload: JSON.object(claims).serialized())
        let signature = try (key ?? self.key).sign(Array(input.utf8), nonce: .rfc6979)
        return JWS.assemble(signingInput: input, signature: signature)
    }

    private func refusal(_ compact: String, _ check: IDTokenCheck? = nil) -> String? {
        let error = #expect(throws: IDTokenRefusal.self) {
            try (check ?? self.check).claims(of: compact, at: Self.now)
        }
        return error?.code
    }

    @Test func `a good ID token gives its claims`() throws {
        let claims = try check.claims(of: token(), at: Self.now)
        #expect(claims.subject == "user")
        #expect(claims.email == "a@idp.example")
        #expect(claims.issuedAt == Self.now)
        #expect(claims.expiresAt == Self.now.adding(seconds: 300))
        #expect(try JSON(parsing: claims.json)["nonce"] == "n")
        #expect(!String(reflecting: claims).contains("user"))
    }

    @Test func `the issuer must be the same bytes`() throws {
        for found in ["https://idp.example/", "https://IDP.example", "http://idp.example", "https://idp.example:443"] {
            #expect(refusal(try token(["iss": .string(found)])) == "oauth.id_token.iss")
        }
        #expect(refusal(try token(["iss": .none])) == "oauth.id_token.claim")
        #expect(refusal(try token(["iss": 7])) == "oauth.id_token.claim")
    }

    @Test func `the audience must contain the client, and several need an azp that is the client`() throws {
        for aud: JSON in ["app", ["app"]] { _ = try check.claims(of: token(["aud": aud]), at: Self.now) }
        for aud: JSON in ["other", ["other"], "APP", "app "] {
            #expect(refusal(try token(["aud": aud])) == "oauth.id_token.aud")
        }
        for aud: JSON? in [.none, 7, [], ["app", 7], [:]] {
            #expect(refusal(try token(["aud": aud])) == "oauth.id_token.claim")
        }
        #expect(refusal(try token(["aud": ["app", "api"]])) == "oauth.id_token.azp")
        #expect(refusal(try token(["aud": ["app", "api"], "azp": "api"])) == "oauth.id_token.azp")
        #expect(refusal(try token(["azp": "api"])) == "oauth.id_token.azp")
        _ = try check.claims(of: token(["aud": ["api", "app"], "azp": "app"]), at: Self.now)
        _ = try check.claims(of: token(["azp": "app"]), at: Self.now)
    }

    @Test func `the nonce must be there and the one sent`() throws {
        #expect(refusal(try token(["nonce": .none])) == "oauth.id_token.nonce")
        #expect(refusal(try token(["nonce": "N"])) == "oauth.id_token.nonce")
        #expect(refusal(try token(["nonce": 7])) == "oauth.id_token.claim")
        var refreshed = check
        refreshed.nonce = .notExpected
        _ = try refreshed.claims(of: token(["nonce": .none]), at: Self.now)
    }

    @Test func `names and nonces in another Unicode form are others`() throws {
        // The composed and the decomposed letter are equal as strings, and different as bytes.
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        #expect(composed == decomposed)
        var check = check
        check.nonce = .mustBe(composed)
        #expect(refusal(try token(["nonce": .string(decomposed)]), check) == "oauth.id_token.nonce")
        _ = try check.claims(of: token(["nonce": .string(composed)]), at: Self.now)
        check = self.check
        check.clientID = composed
        #expect(refusal(try token(["aud": .string(decomposed)]), check) == "oauth.id_token.aud")
    }

    @Test func `times are checked with a minute's leeway`() throws {
        let now = Self.now.seconds
        let cases: [(String, Int64, String?)] = [
            ("exp", now - 59, nil), ("exp", now - 60, "oauth.id_token.exp"), ("exp", 0, "oauth.id_token.exp"),
            ("iat", now + 60, nil), ("iat", now + 61, "oauth.id_token.iat"), ("iat", now - 86_400, nil),
            ("iat", now - 86_401, "oauth.id_token.iat"),
        ]
        for (name, seconds, expected) in cases {
            let compact = try token([name: .int(seconds)])
            if let expected {
                #expect(refusal(compact) == expected, "\(name) \(seconds - now)")
            } else {
                _ = try check.claims(of: compact, at: Self.now)
            }
        }
        for name in ["exp", "iat"] {
            for value: JSON? in [.none, "1750000000", .bool(true), .double(1e300)] {
                #expect(refusal(try token([name: value])) == "oauth.id_token.claim")
            }
        }
        _ = try check.claims(of: token(["exp": .double(Double(now) + 0.5)]), at: Self.now)
    }

    @Test func `the subject must be there, and repeat itself on a refresh`() throws {
        #expect(refusal(try token(["sub": .none])) == "oauth.id_token.claim")
        var refreshed = check
        refreshed.subject = "user"
        _ = try refreshed.claims(of: token(), at: Self.now)
        refreshed.subject = "somebody else"
        #expect(refusal(try token(), refreshed) == "oauth.id_token.sub")
    }

    @Test(arguments: ["none", "None", "NONE", "HS256", "HS384", "hs512", "HS1"])
    func `none and HMAC are refused, whether the signature is looked at or not`(algorithm: String) throws {
        let compact = try token(header: ["alg": .string(algorithm)])
        #expect(refusal(compact) == "oauth.id_token.alg")
        var strict = check
        strict.keys = JWKSet([.init(keyID: nil, key: .p256(key.publicKey))])
        #expect(refusal(compact, strict) == "oauth.id_token.alg")
    }

    @Test func `an unsecured token without a signature is refused too`() throws {
        let input = JWS.signingInput(header: JSONObject([("alg", "none")]), payload: Array("{}".utf8))
        #expect(refusal(input + ".") != nil)
    }

    @Test func `what is no JWS is malformed`() throws {
        for text in ["", "a.b", "a.b.c", "e30.e30.AA", "....", try token() + "=", try token() + ".x"] {
            #expect(refusal(text) == "oauth.id_token.malformed", "\(text.prefix(20))")
        }
    }

    @Test func `at_hash must fit when it is there`() throws {
        // The access token and hash of OIDC Core appendix A.
        var published = check
        published.accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
        _ = try published.claims(of: token(["at_hash": "77QmUPtjPfzWtF2AnpK9RQ"]), at: Self.now)
        #expect(refusal(try token(["at_hash": "77QmUPtjPfzWtF2AnpK9RR"]), published) == "oauth.id_token.at_hash")
        #expect(refusal(try token(["at_hash": "77QmUPtjPfzWtF2AnpK9RQ"])) == "oauth.id_token.at_hash")
        #expect(refusal(try token(["at_hash": 7])) == "oauth.id_token.claim")
        let unknown = try token(["at_hash": "77QmUPtjPfzWtF2AnpK9RQ"], header: ["alg": "EdDSA"])
        #expect(refusal(unknown, published) == "oauth.id_token.at_hash")
        let long = Base64URL.encode(SHA384.hash(Array(published.accessToken.utf8)).prefix(24))
        _ = try published.claims(
            of: token(["at_hash": .string(long)], header: ["alg": "ES384"]), at: Self.now)
    }

    @Test func `the signature is looked at only when keys are given`() throws {
        let other = try P256.PrivateKey.generate(Entropy(seed: Array("another key".utf8)))
        let forged = try token(key: other)
        _ = try check.claims(of: forged, at: Self.now)
        var strict = check
        strict.keys = JWKSet([.init(keyID: "k1", key: .p256(key.publicKey))])
        #expect(refusal(forged, strict) == "oauth.id_token.signature")
        _ = try strict.claims(of: token(), at: Self.now)
        _ = try strict.claims(of: token(header: ["kid": "k1"]), at: Self.now)
        #expect(refusal(try token(header: ["kid": "k2"]), strict) == "oauth.id_token.signature")
        #expect(refusal(try token(header: ["alg": "EdDSA"]), strict) == "oauth.id_token.signature")
        strict.keys = JWKSet([])
        #expect(refusal(try token(), strict) == "oauth.id_token.signature")
    }

    @Test func `an access token shows its binding where it can be read`() throws {
        let bound = try token(["cnf": ["jkt": "thumb"]])
        #expect(AccessTokenBinding(of: bound) == .bound(thumbprint: "thumb"))
        #expect(AccessTokenBinding(of: try token()) == .unbound)
        #expect(AccessTokenBinding(of: try token(["cnf": ["jkt": 7]])) == .unbound)
        #expect(AccessTokenBinding(of: try token(["cnf": "thumb"])) == .unbound)
        for opaque in ["opaque", "a.b.c", "a.b.c.d.e", ""] {
            #expect(AccessTokenBinding(of: opaque) == .unreadable)
        }
    }
}
