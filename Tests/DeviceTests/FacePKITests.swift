import Crypto
import Device
import Encoding
import Testing

@Suite struct `Face PKI` {
    let entropy = Entropy(seed: [UInt8]("face pki tests".utf8))

    private func contents(_ classes: [FacePKIClass] = FacePKIClass.allCases) -> FaceTokenContents {
        var contents = FaceTokenContents.drawn(from: entropy, at: Instant(seconds: 1_790_000_000))
        contents.addMissingSeeds(of: classes, from: entropy)
        return contents
    }

    @Test func `a key is the one the published derivation gives`() throws {
        // Computed apart from this code, with another library's DeriveKeyPair over the parts the page names.
        var contents = FaceTokenContents(
            templateID: [UInt8](repeating: 9, count: 16), createdAt: Instant(seconds: 1_790_000_000))
        contents.seeds = ["p256-ecdsa": [UInt8](0..<32), "p256-dhkem": [UInt8](32..<64)]
        let app = FacePKIKeys(contents, owner: .app("app_demo"))
        let tenant = FacePKIKeys(contents, owner: .tenant("https://acme.idp.example"))
        let context = [UInt8]("payments-v1".utf8)
        let found = [
            Hex.encode(try app.publicKey(.ecdsa, context: context).x963),
            Hex.encode(try app.publicKey(.dhkem, context: []).x963),
            Hex.encode(try tenant.publicKey(.ecdsa, context: context).x963),
        ]
        #expect(found == Self.derived)
    }

    static let derived = [
        "04d73e37698395901fc54ccf053af9133d1f9e44e07140712b24d74e64f7ec650f"
            + "4b886ba18ec3f0cb46e5d06f523c01d030eab9c156c61a84f90d51c05d72d3c6",
        "04e6c39ef3a35564906d4b87fd088f626f2a2a4503b5b9b4260fac81458fb9da51"
            + "63e9debfed7c0d79c10ffd5b06e9cec888b5bb3d035d8b28f60b204981ca40ba",
        "0403b0f1d089286ff8c700906e0e3c931b2dc947d876008be8b0d2c807bdd5c787"
            + "7b72ed7e4c8d56dbf12dcc70ff8ddc8f6a1c5d9948f1e3887cee5df50beb1a72",
    ]

    @Test func `the same token, owner and context give the same key wherever it is opened`() throws {
        let contents = contents()
        let binding = FaceTokenBinding(issuer: "https://idp.example/acme")
        let face = Face.drawn(from: entropy)
        let sealed = try FaceToken.seal(contents, face: face, generation: 1, binding: binding, entropy: entropy)
        let rotated = try FaceToken.rotated(sealed, face: face, binding: binding, entropy: .system)
        for token in [sealed, rotated] {
            let opened = try FaceToken.open(token, face: face, binding: binding)
            for name in FacePKIClass.allCases {
                let key = try FacePKIKeys(opened, owner: .app("a")).publicKey(name, context: [1])
                #expect(try FacePKIKeys(contents, owner: .app("a")).publicKey(name, context: [1]) == key)
            }
        }
    }

    @Test func `class, owner and context each make another key`() throws {
        var seeds = contents()
        seeds.seeds["p256-dhkem"] = seeds.seeds["p256-ecdsa"]
        // Lengths go before the parts, so that no two lists of parts read the same.
        let owners: [FacePKIOwner] = [.app("a"), .app("ab"), .tenant("a"), .tenant("ab"), .app("")]
        let contexts: [[UInt8]] = [[], [0], [0, 0], Array("b".utf8), [UInt8](repeating: 0, count: 255)]
        var keys = Set<P256.PublicKey>()
        for owner in owners {
            for context in contexts {
                for name in FacePKIClass.allCases {
                    keys.insert(try FacePKIKeys(seeds, owner: owner).publicKey(name, context: context))
                }
            }
        }
        #expect(keys.count == owners.count * contexts.count * 2)
    }

    @Test func `a signature over 32 bytes binds every bit, one over 64 the bits its rule says`() throws {
        let keys = FacePKIKeys(contents(), owner: .app("a"))
        let key = try keys.publicKey(.ecdsa, context: [1])
        let short = entropy.bytes(32)
        let signature = try keys.sign(short, context: [1], rule: .leftmost)
        #expect(key.verify(signature, digest: short))
        for bit in 0..<256 { #expect(!key.verify(signature, digest: flipping(bit, short))) }

        let long = entropy.bytes(64)
        let leftmost = try keys.sign(long, context: [1], rule: .leftmost)
        #expect(key.verify(leftmost, digest: long))
        for bit in 0..<512 { #expect(key.verify(leftmost, digest: flipping(bit, long)) == (bit >= 256)) }

        let hashed = try keys.sign(long, context: [1], rule: .sha256)
        #expect(!key.verify(hashed, digest: long))
        #expect(key.verify(hashed, digest: SHA256.hash(long)))
        for bit in 0..<512 { #expect(!key.verify(hashed, digest: SHA256.hash(flipping(bit, long)))) }
    }

    private func flipping(_ bit: Int, _ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
    }

    @Test func `what is encapsulated to the public key is decapsulated, once`() throws {
        let keys = FacePKIKeys(contents(), owner: .tenant("https://idp.example/acme"))
        let sent = try DHKEM.encapsulate(
            to: try keys.publicKey(.dhkem, context: [2]), ephemeral: .generate(entropy))
        let secret = try keys.decapsulate(sent.encapsulation, context: [2])
        #expect(secret.take() == sent.secret)
        #expect(secret.take() == nil)
        #expect(try keys.decapsulate(sent.encapsulation, context: [3]).take() != sent.secret)
    }

    @Test func `what breaks a rule is refused by its name`() throws {
        let keys = FacePKIKeys(contents([.ecdsa]), owner: .app("a"))
        #expect(throws: FacePKIError.keysNotReady(.dhkem)) { try keys.publicKey(.dhkem, context: []) }
        #expect(throws: FacePKIError.keysNotReady(.dhkem)) { try keys.decapsulate([], context: []) }
        let long = [UInt8](repeating: 0, count: 256)
        #expect(throws: FacePKIError.contextLength(256)) { try keys.publicKey(.ecdsa, context: long) }
        for count in [0, 31, 33, 63, 65] {
            #expect(throws: FacePKIError.operandLength(count)) {
                try keys.sign([UInt8](repeating: 0, count: count), context: [], rule: .leftmost)
            }
        }
        let both = FacePKIKeys(contents(), owner: .app("a"))
        #expect(throws: FacePKIError.crypto(.pointEncoding)) { try both.decapsulate([4], context: []) }
        let errors: [FacePKIError] = [
            .keysNotReady(.ecdsa), .contextLength(256), .operandLength(1), .crypto(.pointEncoding),
        ]
        #expect(Set(errors.map(\.code)).count == errors.count)
        #expect(errors.allSatisfy { $0.code.hasPrefix("face_pki.") && !$0.description.isEmpty })
    }

    @Test func `adding seeds keeps those that are there and replaces one that is too short`() throws {
        var contents = contents([.ecdsa])
        let first = contents.seeds
        contents.addMissingSeeds(of: FacePKIClass.allCases, from: entropy)
        #expect(contents.seeds["p256-ecdsa"] == first["p256-ecdsa"])
        #expect(contents.seeds["p256-dhkem"]?.count == 32)
        #expect(contents.seeds["p256-dhkem"] != contents.seeds["p256-ecdsa"])
        contents.seeds["p256-ecdsa"] = [1, 2, 3]
        #expect(throws: FacePKIError.keysNotReady(.ecdsa)) {
            try FacePKIKeys(contents, owner: .app("a")).publicKey(.ecdsa, context: [])
        }
        contents.addMissingSeeds(of: [.ecdsa], from: entropy)
        #expect(contents.seeds["p256-ecdsa"]?.count == 32)
    }

    @Test func `the keys show nothing of themselves`() throws {
        let keys = FacePKIKeys(contents(), owner: .app("a"))
        var dumped = ""
        dump(keys, to: &dumped)
        for text in ["\(keys)", String(reflecting: keys), dumped] { #expect(!text.contains("seed")) }
    }
}
