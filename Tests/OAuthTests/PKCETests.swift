import OAuth
import Testing

@Suite struct PKCETests {
    @Test(arguments: [
        // RFC 7636 appendix B, and the verifier of RFC 9449's example.
        ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("bEaL42izcC-o-xBk0K2vuJ6U-y1p9r_wW2dFWIWgjz-", "HtPJkE32DJkowXxFcEC5nnFXgv1Z97Cn_krX96qwH0E"),
    ])
    func `the challenge of a published verifier is the published one`(verifier: String, challenge: String) {
        #expect(PKCE.challenge(for: verifier) == challenge)
        #expect(PKCE.isVerifier(verifier))
    }

    @Test func `a verifier has 43 to 128 unreserved characters`() {
        #expect(!PKCE.isVerifier(String(repeating: "a", count: 42)))
        #expect(PKCE.isVerifier(String(repeating: "a", count: 43)))
        #expect(PKCE.isVerifier(String(repeating: "~", count: 128)))
        #expect(!PKCE.isVerifier(String(repeating: "a", count: 129)))
        #expect(!PKCE.isVerifier(String(repeating: "+", count: 43)))
        #expect(!PKCE.isVerifier(String(repeating: "é", count: 43)))
    }
}
