import Crypto
import Device
import Encoding
import Testing

@Suite struct `Face token` {
    let entropy = Entropy(seed: [UInt8]("face token tests".utf8))
    let binding = FaceTokenBinding(issuer: "https://idp.example/acme")

    private func enrolled() -> (face: Face, contents: FaceTokenContents) {
        var contents = FaceTokenContents.drawn(from: entropy, at: Instant(seconds: 1_790_000_000))
        contents.seeds = ["p256-ecdsa": entropy.bytes(32), "p256-dhkem": entropy.bytes(32)]
        return (Face.drawn(from: entropy), contents)
    }

    private func sealed(
        _ contents: FaceTokenContents, _ face: Face, generation: UInt32 = 1, binding: FaceTokenBinding? = nil
    ) throws -> [UInt8] {
        try FaceToken.seal(
            contents, face: face, generation: generation, binding: binding ?? self.binding, entropy: entropy)
    }

    @Test func `the enrolled face opens the token after every rotation, and the generation grows by one`() throws {
        let (face, contents) = enrolled()
        var token = try sealed(contents, face)
        for generation in 1...UInt32(50) {
            #expect(try FaceToken.generation(of: token) == generation)
            let opened = try FaceToken.open(token, face: face, binding: binding, generation: generation)
            #expect(opened == contents)
            token = try FaceToken.rotated(token, face: face, binding: binding, entropy: entropy)
        }
    }

    @Test func `each sealing draws its own salt and nonce`() throws {
        let (face, contents) = enrolled()
        var (salts, nonces, bodies) = (Set<[UInt8]>(), Set<[UInt8]>(), Set<[UInt8]>())
        for _ in 0..<64 {
            let token = try sealed(contents, face)
            salts.insert([UInt8](token[21..<37]))
            nonces.insert([UInt8](token[37..<49]))
            bodies.insert([UInt8](token[49...]))
        }
        #expect((salts.count, nonces.count, bodies.count) == (64, 64, 64))
    }

    @Test func `no stranger's face opens the token, and each is always the same stranger`() throws {
        let (face, contents) = enrolled()
        let token = try sealed(contents, face)
        var strangers = Set<Face>()
        for number in 0..<UInt64(100) {
            let stranger = Face.stranger(for: face, number: number)
            #expect(stranger == Face.stranger(for: face, number: number))
            #expect(throws: FaceTokenError.wrongFace) {
                try FaceToken.open(token, face: stranger, binding: binding)
            }
            strangers.insert(stranger)
        }
        #expect(strangers.count == 100)
        #expect(!strangers.contains(face))
    }

    @Test func `one wrong bit in a face's secret does not open the token`() throws {
        let (face, contents) = enrolled()
        let token = try sealed(contents, face)
        for bit in 0..<(Face.secretLength * 8) {
            var secret = face.secret
            secret[bit / 8] ^= 1 << (bit % 8)
            let almost = try #require(Face(secret: secret))
            #expect(throws: FaceTokenError.wrongFace) { try FaceToken.open(token, face: almost, binding: binding) }
        }
    }

    @Test func `any flipped bit keeps the token shut`() throws {
        let (face, contents) = enrolled()
        let token = try sealed(contents, face)
        for bit in 0..<(token.count * 8) {
            var damaged = token
            damaged[bit / 8] ^= 1 << (bit % 8)
            let error = #expect(throws: FaceTokenError.self) {
                try FaceToken.open(damaged, face: face, binding: binding)
            }
            // The first byte names the format; anywhere else damage is called damage, never a mismatch.
            #expect(bit < 8 ? error != .wrongFace : error == .corrupted)
        }
    }

    @Test func `any flipped bit keeps the token shut for whoever repairs the checksum too`() throws {
        let (face, contents) = enrolled()
        let body = try sealed(contents, face).dropLast(8)
        for bit in 8..<(body.count * 8) {
            var forged = [UInt8](body)
            forged[bit / 8] ^= 1 << (bit % 8)
            forged += SHA256.hash(forged).prefix(8)
            let error = #expect(throws: FaceTokenError.self) {
                try FaceToken.open(forged, face: face, binding: binding)
            }
            #expect(error == (5..<21 ~= bit / 8 ? .otherBinding : .wrongFace))
        }
    }

    @Test func `a token cut anywhere is refused`() throws {
        let (face, contents) = enrolled()
        let token = try sealed(contents, face)
        for count in 0..<token.count {
            let error = #expect(throws: FaceTokenError.self) {
                try FaceToken.open([UInt8](token.prefix(count)), face: face, binding: binding)
            }
            #expect(error == (count < FaceToken.shortest ? .truncated(byteCount: count) : .corrupted))
        }
        #expect(throws: FaceTokenError.corrupted) {
            try FaceToken.open(token + [0], face: face, binding: binding)
        }
    }

    @Test func `a token of another issuer is refused before the face is tried`() throws {
        let (face, contents) = enrolled()
        let token = try sealed(contents, face)
        let others = ["https://idp.example/globex", "https://idp.example/acme/", "https://idp.example/acm", ""]
            .map { FaceTokenBinding(issuer: $0) }
        for other in others {
            #expect(throws: FaceTokenError.otherBinding) {
                try FaceToken.open(token, face: face, binding: other)
            }
        }
    }

    @Test func `another generation than the one asked for is refused by both numbers`() throws {
        let (face, contents) = enrolled()
        let token = try sealed(contents, face, generation: 7)
        #expect(throws: FaceTokenError.otherGeneration(expected: 8, found: 7)) {
            try FaceToken.open(token, face: face, binding: binding, generation: 8)
        }
    }

    @Test func `a password-protected token stays opaque and an unknown format is named`() throws {
        let (face, contents) = enrolled()
        var token = try sealed(contents, face)
        token[0] = FaceToken.passwordProtectedVersion
        #expect(throws: FaceTokenError.passwordProtected) { try FaceToken.open(token, face: face, binding: binding) }
        #expect(throws: FaceTokenError.passwordProtected) { try FaceToken.generation(of: [2]) }
        token[0] = 9
        #expect(throws: FaceTokenError.unknownVersion(9)) { try FaceToken.generation(of: token) }
    }

    @Test func `the last generation cannot be rotated, and contents that do not fit are refused`() throws {
        var (face, contents) = enrolled()
        let last = try sealed(contents, face, generation: .max)
        #expect(throws: FaceTokenError.generationsExhausted) {
            try FaceToken.rotated(last, face: face, binding: binding, entropy: entropy)
        }
        contents.seeds["huge"] = Array(repeating: 0, count: 60_000)
        let error = #expect(throws: FaceTokenError.self) { try sealed(contents, face) }
        #expect(error?.code == "face_token.too_long")
        let bytes = Array(repeating: FaceToken.version, count: FaceToken.longest + 1)
        #expect(throws: FaceTokenError.tooLong(byteCount: bytes.count)) { try FaceToken.generation(of: bytes) }
    }

    @Test func `neither face nor contents show a secret`() throws {
        let (face, contents) = enrolled()
        for shown in ["\(face)", String(reflecting: face), "\(contents)", String(reflecting: contents)] {
            #expect(!shown.contains(face.secret.map(String.init).joined(separator: ", ")))
            #expect(!shown.contains("["))
        }
        var dumped = ""
        dump((face, contents), to: &dumped)
        #expect(!dumped.contains(String(face.secret[0]) + "\n"))
        #expect(Face(secret: Array(repeating: 0, count: 31)) == nil)
    }
}
