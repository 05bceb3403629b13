import Crypto
import Encoding
import Testing

@Suite struct EntropyTests {
    @Test func `the same seed gives the same bytes, however they are drawn`() {
        var whole = EntropyStream(seed: [1, 2, 3])
        let expected = whole.bytes(1000)
        var parts = EntropyStream(seed: [1, 2, 3])
        var drawn: [UInt8] = []
        var size = 0
        while drawn.count < 1000 {
            drawn += parts.bytes(min(size % 41, 1000 - drawn.count))
            size += 1
        }
        #expect(drawn == expected)
        #expect(Entropy(seed: [1, 2, 3]).bytes(1000) == expected)
    }

    @Test func `the stream is the one of earlier runs`() {
        // Recorded: seeded devices in fixtures and bug reports depend on it.
        var stream = EntropyStream(seed: Array("understudy".utf8))
        #expect(Hex.encode(stream.bytes(16)) == "85cb77108288ee1099f275458eb54ac6")
    }

    @Test func `other seeds and other labels give other bytes`() {
        var streams = [[], [0], [0, 0], [1]].map { EntropyStream(seed: $0) }
        streams.append(streams[3].derived("a"))
        streams.append(streams[3].derived("b"))
        let drawn = streams.indices.map { streams[$0].bytes(32) }
        #expect(Set(drawn).count == drawn.count)
    }

    @Test func `what a derived source gives does not depend on what was drawn before`() {
        let entropy = Entropy(seed: [1])
        let before = entropy.derived("phone").bytes(32)
        _ = entropy.bytes(100)
        #expect(entropy.derived("phone").bytes(32) == before)
        #expect(!Entropy.system.derived("phone").isSeeded)
    }

    @Test func `a copy of a stream draws the same bytes`() {
        var stream = EntropyStream(seed: [1])
        _ = stream.bytes(7)
        var copy = stream
        #expect(stream.bytes(50) == copy.bytes(50))
    }

    @Test func `the system's bytes do not repeat and use every value`() {
        let drawn = (0..<1000).map { _ in Entropy.system.bytes(16) }
        #expect(Set(drawn).count == 1000)
        #expect(Set(drawn.joined()).count == 256)
        #expect(Entropy.system.bytes(0).isEmpty)
        #expect(Entropy.system.bytes(100_000).count == 100_000)
    }

    @Test func `tokens are base64url of so many bytes`() throws {
        #expect(try Base64URL.decode(Entropy.system.token(32)).count == 32)
        var stream = EntropyStream(seed: [1])
        #expect(Entropy(seed: [1]).token(24) == stream.token(24))
    }

    @Test func `UUIDs are of version 4 and differ`() throws {
        var seen: Set<String> = []
        for _ in 0..<200 {
            let text = Entropy.system.uuid()
            let characters = Array(text)
            #expect(characters.count == 36)
            #expect([8, 13, 18, 23].allSatisfy { characters[$0] == "-" })
            #expect(characters[14] == "4")
            #expect("89ab".contains(characters[19]))
            #expect(try Hex.decode(text.replacing("-", with: "")).count == 16)
            seen.insert(text)
        }
        #expect(seen.count == 200)
    }

    @Test func `a seeded source shared by many tasks gives each byte once`() async {
        let entropy = Entropy(seed: [1])
        let drawn = await withTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<8 { group.addTask { (0..<100).map { _ in entropy.bytes(32) } } }
            return await group.reduce(into: Set<[UInt8]>()) { $0.formUnion($1) }
        }
        #expect(drawn.count == 800)
        var whole = EntropyStream(seed: [1])
        #expect(drawn == Set((0..<800).map { _ in whole.bytes(32) }))
    }

    @Test func `signatures of a seeded run repeat`() throws {
        #expect(Entropy(seed: [1]).signingNonce == .rfc6979)
        #expect(Entropy.system.signingNonce == .random)
    }

    @Test func `a fingerprint is stable, short and not the secret`() {
        #expect(Redaction.fingerprint("secret") == "‹2bb80d53›")
        #expect(Redaction.fingerprint("secret") != Redaction.fingerprint("secreu"))
        #expect(Redaction.fingerprint("") == "‹empty›")
    }
}
