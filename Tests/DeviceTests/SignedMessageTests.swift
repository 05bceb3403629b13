import Crypto
import Device
import Encoding
import JOSE
import Testing

@Suite struct `Signed messages of the device` {
    let entropy = Entropy(seed: [UInt8]("signed message tests".utf8))
    let jti = "0123456789abcdefghijkl"

    private func claims(_ act: CeremonyAct) -> CeremonyClaims {
        CeremonyClaims(
            issuer: "https://idp.example/acme", ceremony: "cer-1", challenge: "chl-1",
            authSessionHash: CeremonyHash.of(ascii: "session"), installThumbprint: "jkt-1", act: act)
    }

    /// What every ceremony says, and then what this act adds, in the order of the wire's table.
    private func expected(_ act: String, _ own: [(String, JSON)]) -> JSONObject {
        JSONObject(
            [
                ("aud", "https://idp.example/acme"), ("iat", 1_790_000_000), ("jti", .string(jti)),
                ("act", .string(act)), ("cer", "cer-1"), ("chl", "chl-1"),
                ("ash", .string(Base64URL.encode(SHA256.hash(ascii: "session")))), ("jkt", "jkt-1"),
            ] + own)
    }

    private func checkCeremony(_ act: CeremonyAct, _ name: String, adds own: [(String, JSON)]) throws {
        let key = try P256.PrivateKey.generate(entropy)
        let ceremony = CeremonyJWS(claims: claims(act), issuedAt: 1_790_000_000, jti: jti)
        let input = ceremony.signingInput(key: key.publicKey)
        let compact = CeremonyJWS.assemble(signingInput: input, signature: try key.sign([UInt8](input.utf8)))

        let jwk = JWK.p256(key.publicKey)
        let verified = try JWS(compact: compact).verify(jwk, algorithms: [.es256])
        let header = JSONObject([("typ", "device-ceremony+jwt"), ("alg", "ES256"), ("kid", .string(jwk.thumbprint))])
        #expect(verified.header == header)
        #expect(try verified.claims() == expected(name, own))
    }

    @Test func `a face-token fetch adds nothing`() throws {
        try checkCeremony(.faceToken, "face-token", adds: [])
    }

    @Test func `an attempt reports the mismatch and its number`() throws {
        try checkCeremony(.attempt(number: 2), "attempt", adds: [("outcome", "mismatch"), ("n", 2)])
    }

    @Test func `a completion proves the match, the generation and the rotated token`() throws {
        let hash = CeremonyHash.of([1, 2, 3])
        try checkCeremony(
            .complete(generation: 3, faceTokenHash: hash), "complete",
            adds: [
                ("outcome", "match"), ("gen", 3), ("fth", .string(Base64URL.encode(SHA256.hash([1, 2, 3])))),
            ])
    }

    @Test func `an abort gives its reason`() throws {
        try checkCeremony(.abort(reason: "cancelled"), "abort", adds: [("reason", "cancelled")])
    }

    @Test func `an enrolment proves the new key over ticket, face token and platform`() throws {
        let key = try P256.PrivateKey.generate(entropy)
        let enrolment = EnrolmentJWS(
            issuer: "https://idp.example/acme", ticket: "ticket-1", faceToken: [9, 8, 7], platform: .ios,
            issuedAt: 1_790_000_000, jti: jti)
        let input = enrolment.signingInput(key: key.publicKey)
        let compact = EnrolmentJWS.assemble(signingInput: input, signature: try key.sign([UInt8](input.utf8)))

        let parsed = try JWS(compact: compact)
        #expect(parsed.type == "device-enrollment+jwt")
        let jwk = try JWK(try #require(parsed.header["jwk"]))
        #expect(jwk == .p256(key.publicKey))
        let claims = try parsed.verify(jwk, algorithms: [.es256]).claims()
        #expect(
            claims
                == JSONObject([
                    ("aud", "https://idp.example/acme"), ("iat", 1_790_000_000), ("jti", .string(jti)),
                    ("act", "enroll"), ("tkt", .string(CeremonyHash.of(ascii: "ticket-1"))),
                    ("fth", .string(CeremonyHash.of([9, 8, 7]))), ("platform", "ios"),
                ]))
    }

    @Test func `a key signs until it is invalidated, and shows no scalar`() throws {
        var key = try StoredKey.generate(.device, at: Instant(seconds: 1), entropy: entropy)
        let privateKey = try key.privateKey()
        #expect(privateKey.publicKey.verify(try privateKey.sign([1]), of: [1]))
        #expect(try privateKey.scalar == key.scalar)
        #expect(!"\(key)\(String(reflecting: key))".contains(key.scalar.map(String.init).joined(separator: ", ")))

        key.invalidate()
        #expect(throws: KeyUnavailable.invalidated(key.handle)) { try key.privateKey() }
        let broken = StoredKey(handle: key.handle, purpose: .dpop, scalar: [1, 2], createdAt: key.createdAt)
        #expect(throws: KeyUnavailable.unreadable(key.handle)) { try broken.privateKey() }
    }

    @Test func `keys made one after the other have handles of their own`() throws {
        let handles = try (0..<20).map { _ in
            try StoredKey.generate(.dpop, at: Instant(seconds: 1), entropy: entropy).handle
        }
        #expect(Set(handles).count == 20)
    }
}
