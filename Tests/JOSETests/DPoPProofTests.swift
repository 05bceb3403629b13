import Crypto
import Encoding
import JOSE
import Testing

@Suite struct DPoPProofTests {
    private func phone() throws -> P256.PrivateKey {
        try P256.PrivateKey(scalar: Base64URL.decode(Vectors.phoneScalar))
    }

    @Test func `the phone's proof reads exactly as recorded`() throws {
        let key = try phone()
        let proof = DPoPProof(
            method: "POST", url: "https://idp.test/oauth2/challenge", jti: "f3c1a0d2-6d1b-4a1e-9a55-0b8e3c7d9e01",
            issuedAt: 1_790_000_000)
        let input = Vectors.phoneProof.prefix(upTo: try #require(Vectors.phoneProof.lastIndex(of: ".")))
        #expect(proof.signingInput(key: key.publicKey) == input)
        let signed = try proof.signed(with: key)
        #expect(signed.hasPrefix(input + "."))
        let checked = try DPoPVerifier.check(
            headerValues: [signed], method: "POST", url: "https://idp.test/oauth2/challenge")
        #expect(checked.jkt == Vectors.phoneThumbprint)
    }

    @Test func `the hash of a token is that of RFC 9449 7.1`() {
        #expect(DPoPProof.hash(accessToken: Vectors.rfc9449Token) == Vectors.rfc9449TokenHash)
        #expect(
            DPoPProof.hash(accessToken: "mst_at_7Qy2Vd0n5kXc8LrT") == "yJROOPTA5d-RudC0vePrvI_da3vZ2Nkm0IGsqrUh918")
    }

    @Test func `query and fragment stay out of htu, and nothing else is changed`() {
        let proof = DPoPProof(method: "GET", url: "https://Api.Test:443/v1/me?fields=a#b", jti: "j", issuedAt: 1)
        #expect(proof.url == "https://Api.Test:443/v1/me")
        #expect(proof.claims.names == ["jti", "htm", "htu", "iat"])
    }

    @Test func `token hash and nonce are there when given`() {
        let proof = DPoPProof(method: "GET", url: "https://a/", jti: "j", issuedAt: 1, accessToken: "t", nonce: "n")
        #expect(proof.claims["ath"]?.string == DPoPProof.hash(accessToken: "t"))
        #expect(proof.claims["nonce"] == "n")
    }

    @Test func `the header shows the public key and nothing of the private one`() throws {
        let key = try phone()
        let header = DPoPProof.header(key: key.publicKey)
        #expect(header.names == ["typ", "alg", "jwk"])
        #expect(header["jwk"]?.object?.names == ["kty", "crv", "x", "y"])
        #expect(header["jwk"]?["x"]?.string == Vectors.phoneX && header["jwk"]?["y"]?.string == Vectors.phoneY)
    }

    @Test func `a seeded phone signs the same proof again`() throws {
        let key = try phone()
        let proof = DPoPProof(method: "POST", url: "https://a/", jti: "j", issuedAt: 1)
        #expect(try proof.signed(with: key, nonce: .rfc6979) == proof.signed(with: key, nonce: .rfc6979))
    }
}
