import Crypto
import Encoding
import JOSE
import OAuth
import Testing

/// Attestations and proofs of draft-ietf-oauth-attestation-based-client-auth; the two below were made by other software.
@Suite struct ClientAttestationTests {
    private static let attestation =
        "eyJ0eXAiOiJvYXV0aC1jbGllbnQtYXR0ZXN0YXRpb24rand0IiwiYWxnIjoiRVMyNTYiLCJraWQiOiJhdHRlc3Rlci0xIn0"
        + ".eyJzdWIiOiJtaXN0LWlvcyIsImlhdCI6MTc5MDAwMDAwMCwiZXhwIjoxNzkwMDg2NDAwLCJjbmYiOnsiandrIjp7Imt0eSI6IkVDIiwi"
        + "Y3J2IjoiUC0yNTYiLCJ4IjoiZHpreU82bEdpOU9vZkJlMU5NZXdmOXNnblVqV2FoNEQ1dlJCam9YUWZnayIsInkiOiJ2X2pUS3pPaTE0"
        + "aURhdUxfRFY2aExSdzB6Ri1EUE9UV2tuV1RrT0phckFzIn19fQ"
        + ".nbpj_Ek4dtdzQrzM2lTJ8HTs4voL1rzH2_1gqMNnrXbnOUq6In8eLdqANhaFagAzPDdmJL0lSECWVkQ1kjleXA"
    private static let proof =
        "eyJ0eXAiOiJvYXV0aC1jbGllbnQtYXR0ZXN0YXRpb24tcG9wK2p3dCIsImFsZyI6IkVTMjU2In0"
        + ".eyJhdWQiOiJodHRwczovL2lkcC50ZXN0IiwianRpIjoiMmI3ZjNjNTItNWExZS00ZDBlLThkNTctOWEwYzFmMmUzZDRiIiwiaWF0Ijox"
        + "NzkwMDAwMDA1LCJjaGFsbGVuZ2UiOiJjaF80bVM5dDFYcTdaYksifQ"
        + ".0_h34WoC9Yhnz8_fiCSz1a3W2dJQwKExHaYE4jSr1WIXUD8iAuwlu_n9x6b5Ul8h-6qtwHue9bSnDIWSzHht4g"
    private static let thumbprint = "M5Dy076AMqFhR-W8plpNrnurbmygm5V1s77Qw8pqqi8"

    private static func key(x: String, y: String) throws -> JWK {
        try JWK(["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(y)])
    }

    private static func instanceKey() throws -> P256.PrivateKey {
        try P256.PrivateKey(scalar: Base64URL.decode("lwpXNIuOZxgI0imPvjtfSRJB5hdefvaPTI4XFAVssIE"))
    }

    @Test func `an attestation made elsewhere is read, and its attester's signature holds`() throws {
        let read = try ClientAttestation(compact: Self.attestation)
        #expect(read.clientID == "mist-ios")
        #expect(read.expiresAt == Instant(seconds: 1_790_086_400))
        #expect(read.instanceKey.thumbprint == Self.thumbprint)
        let attester = try Self.key(
            x: "5r5J0M16Dq7FLNTR39j3cpziguU8nwUfwYbY3Gfhr9Q", y: "EreOVTMNxZKeEslJwUf7ucvtpmuNIW1OInx2iJdI1h8")
        _ = try JWS(compact: Self.attestation).verify(attester, algorithms: [.es256])
        #expect(throws: JOSEError.self) {
            _ = try JWS(compact: Self.attestation).verify(read.instanceKey, algorithms: [.es256])
        }
    }

    @Test func `a proof is written as other software writes it, and theirs verifies with the attested key`() throws {
        let ours = ClientAttestationPoP(
            audience: "https://idp.test", jti: "2b7f3c52-5a1e-4d0e-8d57-9a0c1f2e3d4b", issuedAt: 1_790_000_005,
            challenge: "ch_4mS9t1Xq7ZbK")
        #expect(Self.proof.hasPrefix(ours.signingInput + "."))
        let instance = try ClientAttestation(compact: Self.attestation).instanceKey
        _ = try JWS(compact: Self.proof).verify(instance, algorithms: [.es256])
        #expect(try JWK.p256(Self.instanceKey().publicKey) == instance)
    }

    @Test func `a proof without a challenge has no such claim, and no issuer and no end`() throws {
        let proof = ClientAttestationPoP(audience: "https://idp.test", jti: "one", issuedAt: 7)
        let claims = try JSON(
            parsing: Base64URL.decode(try #require(proof.signingInput.split(separator: ".").last)))
        #expect(claims.object?.names == ["aud", "jti", "iat"])
    }

    @Test func `an attestation of ours is read back, and the attested key is in it as a public key`() throws {
        let attester = try P256.PrivateKey.generate(Entropy(seed: Array("attester".utf8)))
        let instance = try Self.instanceKey()
        let message = ClientAttestation.message(
            clientID: "app", instanceKey: instance.publicKey, algorithm: .es256, keyID: "a-1", issuedAt: 100,
            lifetime: 60)
        let made = try JWS.sign(
            header: message.header, payload: message.payload, key: attester, nonce: .rfc6979)
        let read = try ClientAttestation(compact: made)
        #expect(read.clientID == "app" && read.expiresAt == Instant(seconds: 160))
        #expect(read.instanceKey == .p256(instance.publicKey))
        #expect(try JSON(parsing: JWS(compact: made).payload)["cnf"]?["jwk"]?["d"] == nil)
        #expect(!"\(read)".contains(made))
    }

    @Test func `what is no attestation is refused with the member's name`() throws {
        let key = try Self.instanceKey()
        let good: [String: JSON] = [
            "sub": "app", "exp": 160, "cnf": ["jwk": JWK.p256(key.publicKey).json],
        ]
        var cases: [(JSONObject, [String: JSON], String)] = []
        let header = JSONObject([("typ", .string(ClientAttestation.type)), ("alg", "ES256")])
        for (name, bad) in [
            ("sub", JSON.null), ("sub", ""), ("exp", "160"), ("exp", .null), ("cnf", .null), ("cnf", ["jwk": 7]),
        ] {
            var claims = good
            claims[name] = bad == .null ? JSON?.none : bad
            cases.append((header, claims, name == "cnf" ? "oauth.attestation.cnf.jwk" : "oauth.attestation.\(name)"))
        }
        cases.append((JSONObject([("typ", "jwt"), ("alg", "ES256")]), good, "oauth.attestation.typ"))
        cases.append(
            (JSONObject([("typ", .string(ClientAttestation.type)), ("alg", "HS256")]), good, "oauth.attestation.alg"))
        for (header, claims, code) in cases {
            let object = JSONObject(claims.map { ($0.key, $0.value) })
            let input = JWS.signingInput(header: header, payload: JSON.object(object).serialized())
            let compact = JWS.assemble(signingInput: input, signature: [UInt8](repeating: 1, count: 64))
            do throws(ClientAttestationError) {
                _ = try ClientAttestation(compact: compact)
                Issue.record("\(code) was not refused")
            } catch { #expect(error.code == code) }
        }
        for text in ["", "a.b", String(repeating: "x", count: ClientAttestation.limit + 1)] {
            #expect(throws: ClientAttestationError.self) { _ = try ClientAttestation(compact: text) }
        }
    }

    @Test func `a challenge is taken from one field of visible ASCII, and from a member of a good answer`() throws {
        #expect(AttestationChallenge.challenge(["abc"]) == "abc")
        for bad in [[], ["a", "b"], [""], ["a b"], ["a\nb"], [String(repeating: "c", count: 1025)]] {
            #expect(AttestationChallenge.challenge(bad) == nil)
        }
        let body = Array(#"{"attestation_challenge":"abc"}"#.utf8)
        #expect(
            try AttestationChallenge.challenge(status: 200, mediaType: "application/json", body: body) == "abc")
        #expect(
            try AttestationChallenge.challenge(status: 200, mediaType: "application/json", body: Array("{}".utf8))
                == nil)
        for (status, body) in [
            (201, #"{"attestation_challenge":"abc"}"#), (200, "[]"), (200, #"{"attestation_challenge":""}"#),
        ] {
            #expect(throws: AnswerError.self) {
                try AttestationChallenge.challenge(
                    status: status, mediaType: "application/json", body: Array(body.utf8))
            }
        }
    }
}
