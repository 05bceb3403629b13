import Crypto
import Encoding
import JOSE
import Testing

/// A proof in the making, to be bent and signed by a key that may be another than it shows.
struct BentProof {
    var header: JSON
    var claims: JSON
    let key: P256.PrivateKey

    init(accessToken: String? = nil) throws {
        key = try P256.PrivateKey.generate(Entropy(seed: [1]))
        header = .object(DPoPProof.header(key: key.publicKey))
        claims = .object(
            DPoPProof(
                method: "POST", url: "https://idp.example/token", jti: "jti-1", issuedAt: 1_790_000_000,
                accessToken: accessToken
            ).claims)
    }

    func compact() throws -> String {
        let input =
            Base64URL.encode(header.serialized()) + "." + Base64URL.encode(claims.serialized())
        return JWS.assemble(signingInput: input, signature: try key.sign(Array(input.utf8)))
    }

    func settingClaim(_ name: String, _ value: JSON?) -> BentProof {
        var proof = self
        proof.claims = claims.setting(name, value)
        return proof
    }

    func settingHeader(_ name: String, _ value: JSON?) -> BentProof {
        var proof = self
        proof.header = header.setting(name, value)
        return proof
    }

    func check(
        method: String = "POST", url: String = "https://idp.example/token", accessToken: String? = nil
    ) throws -> CheckedProof {
        try DPoPVerifier.check(headerValues: [compact()], method: method, url: url, accessToken: accessToken)
    }
}

/// The refusal of a proof, or nil when it was taken.
func refusal(_ body: () throws -> CheckedProof) throws -> DPoPRefusal? {
    do {
        _ = try body()
        return nil
    } catch let refusal as DPoPRefusal {
        return refusal
    }
}

@Suite struct DPoPVerifierTests {
    private let good: BentProof

    init() throws { good = try BentProof() }

    private func rule(_ proof: BentProof) throws -> String? { try refusal { try proof.check() }?.rule }

    @Test func `the proofs of RFC 9449 are good`() throws {
        let token = try DPoPVerifier.check(
            headerValues: [Vectors.rfc9449TokenProof], method: "POST", url: "https://server.example.com/token")
        #expect(token.jkt == Vectors.rfc9449Thumbprint)
        #expect(token.jti == "-BwC3ESc6acc2lTc" && token.issuedAt == 1_562_262_616 && token.nonce == nil)
        let refresh = try DPoPVerifier.check(
            headerValues: [Vectors.rfc9449RefreshProof], method: "POST", url: "https://server.example.com/token")
        #expect(refresh.issuedAt == 1_562_265_296 && refresh.jti == token.jti)
        let resource = try DPoPVerifier.check(
            headerValues: [Vectors.rfc9449ResourceProof], method: "GET",
            url: "https://resource.example.org/protectedresource", accessToken: Vectors.rfc9449Token)
        #expect(resource.key == token.key)
    }

    @Test func `the phone's recorded proof is good`() throws {
        let proof = try DPoPVerifier.check(
            headerValues: [Vectors.phoneProof], method: "POST", url: "https://idp.test/oauth2/challenge")
        #expect(proof.jkt == Vectors.phoneThumbprint)
    }

    @Test func `a proof with more claims and header members than needed is good`() throws {
        #expect(try rule(good.settingClaim("exp", 1).settingHeader("kid", "x").settingClaim("ath", "unread")) == nil)
    }

    @Test func `M1 and M2: no header, two, or two joined by a comma`() throws {
        let compact = try good.compact()
        for (values, count) in [([], 0), ([compact, compact], 2), ([compact + "," + compact], 2), (["a, b, c"], 3)] {
            let refusal = try refusal {
                try DPoPVerifier.check(headerValues: values, method: "POST", url: "https://idp.example/token")
            }
            #expect(refusal == .headerCount(count))
        }
    }

    @Test(arguments: ["JWT", "DPoP+JWT", "dpop+JWT", "application/dpop+jwt", " dpop+jwt", "", nil])
    func `M3: another typ`(type: String?) throws {
        let bent = good.settingHeader("typ", type.map(JSON.string))
        #expect(try refusal { try bent.check() } == .type(type))
    }

    @Test func `M4: another algorithm, or one of another key`() throws {
        for name in ["none", "HS256", "ES384", "EdDSA", "RS256", "PS256", "es256"] {
            #expect(try rule(good.settingHeader("alg", .string(name))) == "dpop.jose.alg.not_accepted")
        }
        #expect(
            try rule(good.settingHeader("jwk", Vectors.rfc7638Key.setting("alg", nil))) == "dpop.jose.alg.other_key")
        #expect(try rule(good.settingHeader("alg", nil)) == "dpop.jose.header.alg")
    }

    @Test func `M4: a MAC keyed with the public key's bytes`() throws {
        let bent = good.settingHeader("alg", "HS256")
        let input = Base64URL.encode(bent.header.serialized()) + "." + Base64URL.encode(bent.claims.serialized())
        let code = HMAC.sha256(key: good.key.publicKey.x963, message: Array(input.utf8))
        let compact = JWS.assemble(signingInput: input, signature: code)
        let refusal = try refusal {
            try DPoPVerifier.check(headerValues: [compact], method: "POST", url: "https://idp.example/token")
        }
        #expect(refusal?.rule == "dpop.jose.alg.not_accepted")
    }

    @Test func `M5: a key that is private, missing, broken, or not the signer's`() throws {
        let jwk = JWK.p256(good.key.publicKey).json
        let other = JWK.p256(try P256.PrivateKey.generate(.system).publicKey).json
        let short = JSON.string(Base64URL.encode(good.key.publicKey.x.dropLast()))
        #expect(try rule(good.settingHeader("jwk", jwk.setting("d", "AQ"))) == "dpop.jose.jwk.private")
        #expect(try rule(good.settingHeader("jwk", nil)) == "dpop.jose.header.jwk")
        #expect(try rule(good.settingHeader("jwk", "key")) == "dpop.jose.jwk.not_object")
        #expect(try rule(good.settingHeader("jwk", jwk.setting("y", jwk["x"]))) == "dpop.jose.jwk.value")
        #expect(try rule(good.settingHeader("jwk", jwk.setting("x", short))) == "dpop.jose.jwk.coordinate")
        #expect(try rule(good.settingHeader("jwk", jwk.setting("crv", "P-384"))) == "dpop.jose.jwk.type")
        #expect(try rule(good.settingHeader("jwk", other)) == "dpop.jose.signature")
    }

    @Test func `M6: a signature in DER, of another length, of zeros or with a flipped bit`() throws {
        let compact = try good.compact()
        let jws = try JWS(compact: compact)
        let input = String(decoding: jws.signingInput, as: UTF8.self)
        func rule(_ signature: [UInt8]) throws -> String? {
            try refusal {
                try DPoPVerifier.check(
                    headerValues: [JWS.assemble(signingInput: input, signature: signature)], method: "POST",
                    url: "https://idp.example/token")
            }?.rule
        }
        #expect(try rule(jws.signature) == nil)
        #expect(try rule(P256.ECDSASignature.der(raw: jws.signature)) == "dpop.jose.signature.length")
        #expect(try rule(Array(jws.signature.dropLast())) == "dpop.jose.signature.length")
        #expect(try rule(jws.signature + [0]) == "dpop.jose.signature.length")
        #expect(try rule([UInt8](repeating: 0, count: 64)) == "dpop.jose.signature")
        var flipped = jws.signature
        flipped[40] ^= 1
        #expect(try rule(flipped) == "dpop.jose.signature")
    }

    @Test func `M7: padding and the standard alphabet`() throws {
        let compact = try good.compact()
        for text in [compact + "=", compact.replacing(".", with: "=."), compact + "==", "+" + compact, compact + "/"] {
            let refusal = try refusal {
                try DPoPVerifier.check(headerValues: [text], method: "POST", url: "https://idp.example/token")
            }
            #expect(refusal?.rule.hasPrefix("dpop.jose.segment.") == true)
            #expect(refusal?.oauthError == "invalid_dpop_proof")
        }
    }

    @Test(arguments: ["post", "Post", "GET", "POST ", ""])
    func `M8: another method`(method: String) throws {
        let bent = good.settingClaim("htm", .string(method))
        #expect(try refusal { try bent.check() } == .method(expected: "POST", actual: method))
    }

    @Test(arguments: [
        ("https://idp.example/token", nil), ("https://idp.example/token?a=b", nil),
        ("https://idp.example/token#a", nil),
        ("https://idp.example:443/token", nil), ("HTTPS://IDP.example/token", nil),
        ("https://idp.example/%74oken", nil), ("https://idp.example/x/../token", nil),
        ("https://idp.example/Token", "dpop.htu"), ("https://idp.example/token/", "dpop.htu"),
        ("https://idp.example//token", "dpop.htu"), ("https://other.example/token", "dpop.htu"),
        ("http://idp.example/token", "dpop.htu"), ("https://idp.example:8443/token", "dpop.htu"),
        ("https://idp.example.evil/token", "dpop.htu"), ("https://idp.example/", "dpop.htu"),
        ("https://evil@idp.example/token", "dpop.jose.url"), ("/token", "dpop.jose.url"), ("", "dpop.jose.url"),
    ])
    func `M9: the URL as it may and may not be written`(url: String, expected: String?) throws {
        #expect(try rule(good.settingClaim("htu", .string(url))) == expected)
    }

    @Test func `a request whose own path is no path is refused, not trapped on`() throws {
        for url in ["https://idp.example/%zz", "https://idp.example/a|b", "https://idp.example/\u{7F}"] {
            #expect(try refusal { try good.check(url: url) }?.rule == "dpop.htu")
        }
        #expect(try refusal { try good.check(url: "https://idp.example/token?q=%zz") } == nil)
    }

    @Test(
        arguments: [
            .string("1790000000"), .double(1790000000.5), .double(1e18), .double(1e300), .int(-1), .int(.max),
            .int(.min),
            .int(1_790_000_000_000), .null, .bool(true), .array([1_790_000_000]), nil,
        ] as [JSON?])
    func `M10: an iat that is no time`(issuedAt: JSON?) throws {
        #expect(try rule(good.settingClaim("iat", issuedAt)) == "dpop.claim.iat")
    }

    @Test func `M12: ath missing, of another token, or in hexadecimal`() throws {
        let token = "mst_at_7Qy2Vd0n5kXc8LrT"
        let proof = try BentProof(accessToken: token)
        func rule(_ proof: BentProof) throws -> DPoPRefusal? { try refusal { try proof.check(accessToken: token) } }
        #expect(try rule(proof) == nil)
        #expect(try rule(good) == .accessTokenHash(missing: true))
        for wrong in [
            .string(DPoPProof.hash(accessToken: token + "x")), .string(Hex.encode(SHA256.hash(ascii: token))), .null, 1,
            .string(DPoPProof.hash(accessToken: token) + "="), "",
        ] as [JSON] {
            #expect(try rule(proof.settingClaim("ath", wrong)) == .accessTokenHash(missing: false))
        }
    }

    @Test(arguments: ["jti", "htm", "htu"])
    func `a claim that is missing or no string is refused`(name: String) throws {
        for value in [nil, .null, 1, [], [:]] as [JSON?] {
            #expect(try rule(good.settingClaim(name, value)) == "dpop.claim.\(name)")
        }
    }

    @Test func `M19: a jti or nonce of no or outrageous length is refused`() throws {
        for name in ["jti", "nonce"] {
            #expect(try rule(good.settingClaim(name, "")) == "dpop.claim.\(name)")
            let long = JSON.string(String(repeating: "a", count: 3000))
            #expect(try rule(good.settingClaim(name, long)) == "dpop.claim.\(name)")
        }
        let huge = JSON.string(String(repeating: "a", count: 10_000))
        #expect(try rule(good.settingClaim("jti", huge)) == "dpop.jose.length")
        #expect(try rule(good.settingClaim("nonce", 1)) == "dpop.claim.nonce")
        #expect(try rule(good.settingClaim("jti", .string(String(repeating: "a", count: 256)))) == nil)
    }

    @Test func `any single changed byte of a proof is refused`() throws {
        let bytes = Array(try good.compact().utf8)
        var stream = EntropyStream(seed: [3])
        for index in bytes.indices {
            for mask in [1, 2, 0x20, 0x80, stream.bytes(1)[0] | 4] as [UInt8] {
                var changed = bytes
                changed[index] ^= mask
                let text = String(decoding: changed, as: UTF8.self)
                let refusal = try refusal {
                    try DPoPVerifier.check(headerValues: [text], method: "POST", url: "https://idp.example/token")
                }
                #expect(refusal != nil, "byte \(index) xor \(mask)")
            }
        }
    }

    @Test func `checking never crashes, whatever the header`() throws {
        var stream = EntropyStream(seed: [4])
        let good = Array(try good.compact().utf8)
        for round in 0..<3000 {
            var bytes = round % 2 == 0 ? stream.bytes(round % 300) : good
            if round % 2 == 1 {
                let place = stream.bytes(4)
                let start = (Int(place[0]) << 8 | Int(place[1])) % good.count
                bytes.removeSubrange(start..<min(good.count, start + Int(place[2]) % 50 + 1))
            }
            let refusal = try refusal {
                try DPoPVerifier.check(
                    headerValues: [String(decoding: bytes, as: UTF8.self)], method: "POST",
                    url: "https://idp.example/token")
            }
            #expect(refusal?.oauthError == "invalid_dpop_proof")
        }
    }

    @Test func `a refusal tells rule, expectation and finding, in bounded length and without the proof`() throws {
        let long = String(repeating: "é", count: 1000)
        let signature = try #require(good.compact().split(separator: ".").last)
        for bent in [
            good.settingHeader("typ", .string(long)), good.settingHeader("alg", .string(long)),
            good.settingClaim("htm", .string(long)), good.settingClaim("htu", "https://idp.example/other"),
            good.settingClaim("iat", nil), good.settingHeader("jwk", ["kty": .string(long)]),
        ] {
            let refusal = try #require(try refusal { try bent.check() })
            #expect(!refusal.rule.isEmpty && !refusal.expected.isEmpty && !refusal.actual.isEmpty)
            #expect(refusal.description.utf8.count < 600)
            #expect(!refusal.description.contains(signature))
        }
    }
}
