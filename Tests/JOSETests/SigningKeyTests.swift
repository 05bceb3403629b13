import Crypto
import Encoding
import JOSE
import Testing

/// Private keys out of files: PEM, DER and JWK, and what is none of them.
@Suite struct SigningKeyTests {
    private static let rsa = Result { try RSA.PrivateKey.generate(bits: 2048) }

    private let p256: P256.PrivateKey
    private let rsa: RSA.PrivateKey

    init() throws {
        p256 = try P256.PrivateKey.generate(Entropy(seed: [7]))
        rsa = try Self.rsa.get()
    }

    @Test func `a P-256 key is read from both of its DER forms, from PEM and from a JWK`() throws {
        let sec1 = try Self.sec1(p256)
        let pkcs8 = Self.sequence([
            Self.element(0x02, [0]), Self.sequence([Self.ecPublicKey, Self.prime256v1]), Self.element(0x04, sec1),
        ])
        let parameters = Self.pem(Self.prime256v1, "EC PARAMETERS")
        for content in [
            sec1, pkcs8, Array(Self.pem(pkcs8, "PRIVATE KEY").utf8),
            Array((parameters + Self.pem(sec1, "EC PRIVATE KEY")).utf8), try Self.jwk(p256).serialized(),
            try JSON.object([("keys", [Self.jwk(p256)])]).serialized(),
        ] {
            let file = try SigningKeyFile(content: content)
            #expect(file.key.publicKey == .p256(p256.publicKey))
            #expect(file.key.algorithm == .es256)
        }
        #expect(try SigningKeyFile(content: Self.jwk(p256).serialized()).keyID == "mine")
        #expect(try SigningKeyFile(content: sec1).keyID == nil)
    }

    @Test func `an RSA key is read from both of its DER forms, from PEM and from a JWK`() throws {
        let pkcs8 = try rsa.pkcs8
        let pkcs1 = try Self.pkcs1(inside: pkcs8)
        for content in [
            pkcs8, pkcs1, Array(Self.pem(pkcs8, "PRIVATE KEY").utf8), Array(Self.pem(pkcs1, "RSA PRIVATE KEY").utf8),
            try Self.jwk(pkcs1: pkcs1).serialized(),
        ] {
            let file = try SigningKeyFile(content: content)
            #expect(file.key.publicKey == .rsa(rsa.publicKey))
            #expect(file.key.algorithm == .ps256)
        }
    }

    @Test func `what it signs verifies with its public half and its algorithm`() throws {
        for key in [SigningKey.p256(p256), .rsa(rsa)] {
            let header = JSONObject([("alg", .string(key.algorithm.rawValue))])
            let jws = try JWS(compact: try key.sign(header: header, payload: [1, 2, 3]))
            #expect(try jws.verify(key.publicKey, algorithms: [key.algorithm]).payload == [1, 2, 3])
        }
    }

    @Test func `halves that do not belong together are refused`() throws {
        var mixed = try #require(try Self.jwk(p256).object)
        let other = try P256.PrivateKey.generate(Entropy(seed: [8]))
        mixed["d"] = .string(Base64URL.encode(try other.scalar))
        #expect(throws: JOSEError.keyValue(rule: "crypto.key.halves")) {
            try SigningKeyFile(content: JSON.object(mixed).serialized())
        }
        let good = try #require(try Self.jwk(pkcs1: Self.pkcs1(inside: rsa.pkcs8)).object)
        for name in ["d", "p", "q", "dp", "dq", "qi"] {
            var bent = good
            var bytes = try Base64URL.decode(try #require(good[name]?.string))
            bytes[bytes.count / 2] ^= 0x10
            bent[name] = .string(Base64URL.encode(bytes))
            // Which numbers OpenSSL uses to sign is its own business: a key either signs right or is refused.
            guard let key = try? SigningKey(jwk: .object(bent)) else { continue }
            let signature = try key.sign(header: JSONObject([("alg", "PS256")]), payload: [1])
            #expect(throws: Never.self) { try JWS(compact: signature).verify(key.publicKey, algorithms: [.ps256]) }
        }
    }

    @Test(arguments: [
        "", "hello", "{}", "{\"kty\":\"oct\",\"k\":\"AAAA\"}", "{\"kty\":\"EC\",\"crv\":\"P-256\"}", "[1]",
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nAAAA\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ])
    func `what holds no private key is an error and not a crash`(text: String) {
        #expect(throws: JOSEError.self) { try SigningKeyFile(content: Array(text.utf8)) }
    }

    @Test func `an encrypted key says so`() {
        for text in [
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END EC PRIVATE KEY-----\n",
        ] {
            #expect(throws: JOSEError.keyValue(rule: "crypto.key.encrypted")) {
                try SigningKeyFile(content: Array(text.utf8))
            }
        }
    }

    @Test func `every cut and every changed byte of a DER key is a key or an error`() throws {
        let sec1 = try Self.sec1(p256)
        for count in 0..<sec1.count {
            #expect(throws: JOSEError.self) { try SigningKeyFile(content: Array(sec1.prefix(count))) }
        }
        #expect(throws: JOSEError.self) { try SigningKeyFile(content: sec1 + [0]) }
        for index in sec1.indices {
            var bent = sec1
            bent[index] ^= 0x55
            _ = try? SigningKeyFile(content: bent)
        }
    }

    @Test func `a description shows nothing of a key`() throws {
        for key in [SigningKey.p256(p256), .rsa(rsa)] {
            for text in ["\(key)", String(reflecting: key)] { #expect(text.contains("‹redacted›")) }
        }
    }

    // MARK: DER and JWK, written here

    private static let prime256v1: [UInt8] = [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
    private static let ecPublicKey: [UInt8] = [0x06, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        if content.count < 0x100 { return [tag, 0x81, UInt8(content.count)] + content }
        return [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    private static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, Array(elements.joined())) }

    private static func sec1(_ key: P256.PrivateKey) throws -> [UInt8] {
        sequence([
            element(0x02, [1]), element(0x04, try key.scalar), element(0xA0, prime256v1),
            element(0xA1, element(0x03, [0] + key.publicKey.x963)),
        ])
    }

    private static func pem(_ der: [UInt8], _ label: String) -> String {
        "-----BEGIN \(label)-----\n\(Base64.encode(der))\n-----END \(label)-----\n"
    }

    private static func jwk(_ key: P256.PrivateKey) throws -> JSON {
        var object = JWK.p256(key.publicKey).json.object ?? JSONObject()
        object["d"] = .string(Base64URL.encode(try key.scalar))
        object["kid"] = "mine"
        return .object(object)
    }

    /// The elements of a DER sequence: their contents.
    private static func contents(of der: ArraySlice<UInt8>) throws -> [ArraySlice<UInt8>] {
        var contents: [ArraySlice<UInt8>] = []
        var rest = try body(of: der).body
        while !rest.isEmpty {
            let (body, behind) = try body(of: rest)
            contents.append(body)
            rest = behind
        }
        return contents
    }

    private static func body(of der: ArraySlice<UInt8>) throws -> (body: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
        var start = der.startIndex + 2
        var length = Int(try #require(der.dropFirst().first))
        if length > 0x80 {
            let count = length - 0x80
            length = der[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        return (der[start..<(start + length)], der[(start + length)...])
    }

    private static func pkcs1(inside pkcs8: [UInt8]) throws -> [UInt8] { Array(try contents(of: pkcs8[...])[2]) }

    private static func jwk(pkcs1: [UInt8]) throws -> JSON {
        let numbers = try contents(of: pkcs1[...]).dropFirst().map { Array($0.drop { $0 == 0 }) }
        var object = JSONObject([("kty", "RSA")])
        for (name, number) in zip(["n", "e", "d", "p", "q", "dp", "dq", "qi"], numbers) {
            object[name] = .string(Base64URL.encode(number))
        }
        return .object(object)
    }
}
