import Crypto
import Encoding
import JOSE
import Testing

@Suite struct JWSTests {
    private let key: P256.PrivateKey
    private let jwk: JWK
    private let header = JSONObject([("alg", "ES256"), ("typ", "JWT"), ("kid", "k1")])
    private let payload = Array(#"{"sub":"a"}"#.utf8)

    init() throws {
        key = try P256.PrivateKey.generate(Entropy(seed: [1]))
        jwk = .p256(key.publicKey)
    }

    /// A JWS with this header and a signature of our key, right or not.
    private func signed(_ header: String, _ payload: String = #"{"sub":"a"}"#) throws -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return JWS.assemble(signingInput: input, signature: try key.sign(Array(input.utf8)))
    }

    @Test func `what was signed is read and verified`() throws {
        let jws = try JWS(compact: JWS.sign(header: header, payload: payload, key: key))
        #expect(jws.algorithm == "ES256" && jws.type == "JWT" && jws.keyID == "k1")
        #expect(jws.header == header && jws.payload == payload && jws.signature.count == 64)
        let verified = try jws.verify(jwk, algorithms: [.es256])
        #expect(try verified.claims() == JSONObject([("sub", "a")]))
        #expect(verified.header == header)
    }

    @Test func `the signature of RFC 7515 A.3 verifies`() throws {
        let jws = try JWS(
            compact: "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS"
                + "9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-"
                + "Kg6NU1Q")
        let key = try JWK(
            Vectors.ecKey(
                "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        #expect(try jws.verify(key, algorithms: [.es256]).claims()["iss"] == "joe")
    }

    @Test func `a signature depends on every byte of the text`() throws {
        let compact = try JWS.sign(header: header, payload: payload, key: key)
        let bytes = Array(compact.utf8)
        for index in bytes.indices {
            for replacement in Array("A_.=z".utf8) where bytes[index] != replacement {
                var changed = bytes
                changed[index] = replacement
                let text = String(decoding: changed, as: UTF8.self)
                #expect(throws: JOSEError.self) { try JWS(compact: text).verify(jwk, algorithms: [.es256]) }
            }
        }
    }

    @Test(arguments: [
        ("", 1), ("a", 1), (".", 2), ("a.b", 2), ("a.b.c.d", 4), ("a.b.c.d.e", 5), ("....", 5),
    ])
    func `a text of other than three parts is refused`(text: String, count: Int) {
        #expect(throws: JOSEError.segmentCount(count)) { try JWS(compact: text) }
    }

    @Test func `empty parts are refused`() throws {
        let parts = try JWS.sign(header: header, payload: payload, key: key).split(separator: ".").map(String.init)
        #expect(throws: JOSEError.segmentEmpty(.header)) { try JWS(compact: ".\(parts[1]).\(parts[2])") }
        #expect(throws: JOSEError.segmentEmpty(.payload)) { try JWS(compact: "\(parts[0])..\(parts[2])") }
        #expect(throws: JOSEError.segmentEmpty(.signature)) { try JWS(compact: "\(parts[0]).\(parts[1]).") }
        #expect(throws: JOSEError.self) { try JWS(compact: "..") }
    }

    @Test func `a padded segment is refused`() throws {
        let parts = try JWS.sign(header: header, payload: payload, key: key).split(separator: ".").map(String.init)
        for (index, segment) in [JOSEError.Segment.header, .payload, .signature].enumerated() {
            var padded = parts
            padded[index] += "="
            #expect(throws: JOSEError.segmentPadding(segment)) { try JWS(compact: padded.joined(separator: ".")) }
        }
    }

    @Test func `the standard alphabet, blanks and line ends are refused`() throws {
        let compact = try JWS.sign(header: header, payload: payload, key: key)
        for text in ["+", "/", " ", "\n", "\r\n", "\t", "\0", "é", "%"] {
            for changed in [text + compact, compact + text, compact.replacing(".", with: text + ".")] {
                #expect(throws: JOSEError.self) { try JWS(compact: changed) }
            }
        }
    }

    @Test func `a header that is no object of strict JSON is refused`() throws {
        for header in ["", "{", "{}x", "[1]", #""ES256""#, "null", #"{"alg":"ES256","alg":"none"}"#, "\u{FEFF}{}"] {
            #expect(throws: JOSEError.self) { try JWS(compact: signed(header)) }
        }
    }

    @Test func `header members of the wrong kind are refused`() throws {
        for header in ["{}", #"{"alg":1}"#, #"{"alg":null}"#, #"{"alg":["ES256"]}"#] {
            #expect(throws: JOSEError.headerMember("alg", expected: "a string")) { try JWS(compact: signed(header)) }
        }
        for name in ["typ", "kid"] {
            #expect(throws: JOSEError.headerMember(name, expected: "a string")) {
                try JWS(compact: signed(#"{"alg":"ES256","\#(name)":1}"#))
            }
        }
    }

    @Test func `demanded extensions are refused`() throws {
        for critical in ["[]", #"["b64"]"#, #"["exp"]"#, "null", "1"] {
            #expect(throws: JOSEError.critical) {
                try JWS(compact: signed(#"{"alg":"ES256","b64":false,"crit":\#(critical)}"#))
            }
        }
    }

    @Test(arguments: ["none", "None", "HS256", "ES384", "ES512", "ES256K", "EdDSA", "es256", "RS256", "PS256", ""])
    func `another algorithm than the accepted is refused`(name: String) throws {
        let jws = try JWS(compact: signed(#"{"alg":"\#(name)"}"#))
        #expect(throws: JOSEError.algorithm(name, accepted: ["ES256"])) { try jws.verify(jwk, algorithms: [.es256]) }
    }

    @Test func `an algorithm of another key type is refused`() throws {
        let all = JWSAlgorithm.allCases
        let rsa = try JWK(Vectors.rfc7638Key)
        let ec = try JWS(compact: JWS.sign(header: header, payload: payload, key: key))
        #expect(throws: JOSEError.algorithmOfOtherKey("ES256", keyType: "RSA")) { try ec.verify(rsa, algorithms: all) }
        for name in ["RS256", "PS256"] {
            #expect(throws: JOSEError.algorithmOfOtherKey(name, keyType: "EC")) {
                try JWS(compact: signed(#"{"alg":"\#(name)"}"#)).verify(jwk, algorithms: all)
            }
        }
    }

    @Test func `a DER signature and other lengths are refused`() throws {
        let input = JWS.signingInput(header: header, payload: payload)
        let signature = try key.sign(Array(input.utf8))
        let der = try P256.ECDSASignature.der(raw: signature)
        for other in [der, Array(signature.dropLast()), signature + [0], [0] + signature] {
            #expect(throws: JOSEError.signatureLength(other.count, expected: 64)) {
                try JWS(compact: JWS.assemble(signingInput: input, signature: other)).verify(jwk, algorithms: [.es256])
            }
        }
        let zeros = [UInt8](repeating: 0, count: 64)
        #expect(throws: JOSEError.signature) {
            try JWS(compact: JWS.assemble(signingInput: input, signature: zeros)).verify(jwk, algorithms: [.es256])
        }
    }

    @Test func `1000 signed texts carry 64 bytes each and verify`() throws {
        var leadingZeros = 0
        for index in 0..<1000 {
            let payload = Array("\(index)".utf8)
            let text = try JWS.sign(header: header, payload: payload, key: key, nonce: .rfc6979)
            let jws = try JWS(compact: text)
            #expect(jws.signature.count == 64)
            #expect(try jws.verify(jwk, algorithms: [.es256]).payload == payload)
            if jws.signature[0] == 0 || jws.signature[32] == 0 { leadingZeros += 1 }
        }
        #expect(leadingZeros > 0)
    }

    @Test func `RSA signs with both paddings`() throws {
        let key = try RSA.PrivateKey.generate(bits: 2048)
        for name in ["RS256", "PS256"] {
            let header = JSONObject([("alg", .string(name))])
            let jws = try JWS(compact: JWS.sign(header: header, payload: payload, key: key))
            #expect(try jws.verify(.rsa(key.publicKey), algorithms: [.rs256, .ps256]).payload == payload)
            let other = JWSAlgorithm.allCases.filter { $0.rawValue != name }
            #expect(throws: JOSEError.self) { try jws.verify(.rsa(key.publicKey), algorithms: other) }
        }
    }

    @Test func `a text over the limit is refused before it is read`() throws {
        let long = try JWS.sign(header: header, payload: [UInt8](repeating: 65, count: 7000), key: key)
        #expect(throws: JOSEError.tooLong(limit: 8192)) { try JWS(compact: long) }
        #expect(try JWS(compact: long, limit: 10_000).payload.count == 7000)
    }

    @Test func `claims must be an object without repeated names`() throws {
        for payload in ["[]", "1", #"{"a":1,"a":2}"#, "x"] {
            let jws = try JWS(compact: signed(#"{"alg":"ES256"}"#, payload))
            let verified = try jws.verify(jwk, algorithms: [.es256])
            #expect(throws: JOSEError.self) { try verified.claims() }
        }
    }

    @Test func `reading never crashes, whatever the bytes`() throws {
        var stream = EntropyStream(seed: [2])
        let good = Array(try JWS.sign(header: header, payload: payload, key: key).utf8)
        let alphabet = Array("eyJ.A-_=+/{}\"\\ é".utf8)
        for round in 0..<4000 {
            var bytes: [UInt8]
            switch round % 3 {
            case 0: bytes = stream.bytes(round % 200)
            case 1: bytes = stream.bytes(round % 200).map { alphabet[Int($0) % alphabet.count] }
            default:
                bytes = good
                for _ in 0..<3 {
                    let place = stream.bytes(3)
                    bytes[(Int(place[0]) << 8 | Int(place[1])) % bytes.count] = place[2]
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let jws = try? JWS(compact: text), text != String(decoding: good, as: UTF8.self) {
                #expect(throws: JOSEError.self) { try jws.verify(jwk, algorithms: JWSAlgorithm.allCases) }
            }
        }
    }

    @Test func `a token never shows itself`() throws {
        let compact = try JWS.sign(header: header, payload: payload, key: key)
        let jws = try JWS(compact: compact)
        for text in ["\(jws)", String(reflecting: jws)] { #expect(!text.contains(compact)) }
    }
}
