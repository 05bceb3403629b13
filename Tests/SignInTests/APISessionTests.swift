import Crypto
import Device
import Encoding
import JOSE
import SignIn
import Testing

@Suite struct APISessionTests {
    private let now = Phone.now

    private func tokens(expiresIn seconds: Int64, refreshToken: String? = nil) -> TokenSession {
        TokenSession(
            issuer: Phone.issuer, clientID: "app_demo", resource: nil, accessToken: "the-access-token",
            expiresAt: now.adding(seconds: seconds), refreshToken: refreshToken, scope: ["openid"], claims: "{}",
            subject: "user-1", createdAt: now, tokenEndpoint: "https://acme.idp.example/oauth2/token",
            revocationEndpoint: nil)
    }

    @Test func `no session, or one that ended without a refresh token, is none`() {
        #expect(APISession.current(nil, at: now) == nil)
        #expect(APISession.current(tokens(expiresIn: 0), at: now) == nil)
        #expect(APISession.current(tokens(expiresIn: 1), at: now) != nil)
        #expect(APISession.current(tokens(expiresIn: -99, refreshToken: "r"), at: now) != nil)
    }

    @Test func `a refresh is due from 30 seconds before the end, and only with a refresh token`() throws {
        for (seconds, isDue) in [(31, false), (30, true), (0, true), (-5, true)] as [(Int64, Bool)] {
            let session = try #require(APISession.current(tokens(expiresIn: seconds, refreshToken: "r"), at: now))
            #expect(session.needsRefresh(at: now) == isDue, "\(seconds)")
            #expect(session.isUsable(at: now) == (seconds > 0))
        }
        let plain = try #require(APISession.current(tokens(expiresIn: 10), at: now))
        #expect(!plain.needsRefresh(at: now))
    }

    @Test func `a request carries the token under DPoP and a proof bound to it`() throws {
        let session = try #require(APISession.current(tokens(expiresIn: 60), at: now))
        let authorization = try session.authorize(
            method: "PUT", url: "https://api.acme.example/accounts?page=2", jti: "jti-1", nonce: "n-1", at: now)
        #expect(authorization.proof.method == "PUT")
        #expect(authorization.proof.url == "https://api.acme.example/accounts")
        #expect(authorization.proof.accessTokenHash == DPoPProof.hash(accessToken: "the-access-token"))
        #expect(authorization.proof.nonce == "n-1")
        #expect(authorization.proof.jti == "jti-1")
        #expect(authorization.proof.issuedAt == now.seconds)
        let fields = authorization.fields(signedProof: "p.r.oof")
        #expect(fields.map(\.name) == ["Authorization", "DPoP"])
        #expect(fields.map(\.value) == ["DPoP the-access-token", "p.r.oof"])
        #expect(!String(reflecting: authorization).contains("the-access-token"))
    }

    @Test(arguments: ["/accounts", "ftp://api.acme.example", "", "https://u:p@api.acme.example"])
    func `a request to no absolute http address is refused`(url: String) throws {
        let session = try #require(APISession.current(tokens(expiresIn: 60), at: now))
        #expect(throws: APICallError.url) {
            try session.authorize(method: "GET", url: url, jti: "j", nonce: nil, at: now)
        }
        #expect(throws: APICallError.url) {
            try APIAnswer.observeResponse(url: url, status: 200, wwwAuthenticate: [], dpopNonce: [])
        }
    }

    @Test func `a nonce is kept from any answer, for its origin, and asks for a repeat only on a challenge`() throws {
        let challenge = #"DPoP error="use_dpop_nonce", algs="ES256""#
        let cases: [(status: Int, [String], [String], nonce: String?, isToBeRepeated: Bool)] = [
            (200, [], ["n1"], "n1", false), (200, [], [], nil, false), (401, [challenge], ["n1"], "n1", true),
            (401, [challenge], [], nil, false), (401, [challenge], ["n1", "n2"], nil, false),
            (401, [challenge], ["no good\""], nil, false), (403, [challenge], ["n1"], "n1", false),
            (401, ["Basic realm=\"x\"", challenge], ["n1"], "n1", true),
            (401, [#"Bearer error="use_dpop_nonce""#], ["n1"], "n1", false),
            (401, [#"dpop ERROR="use_dpop_nonce""#], ["n1"], "n1", true),
            (401, [#"DPoP error="invalid_token""#], ["n1"], "n1", false), (401, [], ["n1"], "n1", false),
            (401, ["DPoP error=\"use_dpop_nonce"], ["n1"], "n1", false),
        ]
        for (status, challenges, nonces, nonce, isToBeRepeated) in cases {
            let seen = try APIAnswer.observeResponse(
                url: "HTTPS://API.acme.example:443/accounts?x", status: status, wwwAuthenticate: challenges,
                dpopNonce: nonces)
            #expect(seen.origin == "https://api.acme.example")
            #expect(seen.nonce == nonce)
            #expect(seen.isToBeRepeated == isToBeRepeated, "\(status) \(challenges)")
        }
    }

    @Test func `only a 401 that says invalid_token asks for a refresh`() {
        let cases: [(Int, [String], Bool)] = [
            (401, [#"DPoP error="invalid_token", algs="ES256""#], true),
            (401, [#"Bearer error="invalid_token""#], true),
            (401, [#"Basic realm="x", DPoP error=invalid_token"#], true),
            (403, [#"DPoP error="invalid_token""#], false), (401, [#"DPoP error="use_dpop_nonce""#], false),
            (401, ["DPoP algs=\"ES256\""], false), (401, [], false), (200, [#"DPoP error="invalid_token""#], false),
            (401, [#"DPoP error="INVALID_TOKEN""#], false), (401, ["\u{0}"], false),
        ]
        for (status, challenges, asks) in cases {
            #expect(
                APIAnswer.shouldRefreshAfter(status: status, wwwAuthenticate: challenges) == asks,
                "\(status) \(challenges)")
        }
    }
}
