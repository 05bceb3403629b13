import Device
import Encoding
import Testing

@Suite struct `Token session` {
    private func session(_ access: String, expires: Int64 = 1_000) -> TokenSession {
        TokenSession(
            issuer: "https://idp.example/acme", clientID: "app_demo", resource: nil, accessToken: access,
            expiresAt: Instant(seconds: expires), refreshToken: "refresh-of-\(access)", scope: ["openid"],
            claims: "claims-of-\(access)", subject: "sub-1", createdAt: Instant(seconds: 1),
            tokenEndpoint: "https://idp.example/acme/token", revocationEndpoint: nil)
    }

    @Test func `a session is due for a refresh from 30 seconds before its end`() {
        let session = session("one", expires: 1_000)
        #expect(!session.needsRefresh(at: Instant(milliseconds: 969_999)))
        #expect(session.needsRefresh(at: Instant(seconds: 970)))
        #expect(!session.isExpired(at: Instant(milliseconds: 999_999)))
        #expect(session.isExpired(at: Instant(seconds: 1_000)))
    }

    @Test func `a session shows no token and no claim`() {
        let session = session("secret-one")
        var dumped = ""
        dump(session, to: &dumped)
        for shown in ["\(session)", String(reflecting: session), dumped] {
            #expect(!shown.contains("secret-one"))
            #expect(shown.contains("sub-1"))
        }
    }
}
