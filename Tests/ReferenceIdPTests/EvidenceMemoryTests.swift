import Crypto
import Encoding
import Testing

@testable import ReferenceIdP

/// Evidence explained by a verifier that is told what came before.
@Suite struct EvidenceMemoryTests {
    private let samples: EvidenceSamples

    init() throws { samples = try EvidenceSamples() }

    private func hash(_ challenge: String) -> [UInt8] { SHA256.hash(Array(challenge.utf8)) }

    private func assertion(
        _ challenge: String, counter: Int, key: P256.PrivateKey? = nil
    ) throws -> JSON {
        try samples.assertion(challenge, hash: hash(challenge), counter: UInt8(counter), key: key)
    }

    /// The bare bytes of an assertion or attestation.
    private func bare(_ json: JSON) throws -> [UInt8] {
        try Base64URL.decode(try #require((json["assertion"] ?? json["attestation"])?.string))
    }

    private func memory(_ pieces: [[UInt8]]) throws -> EvidenceMemory {
        var memory = EvidenceMemory()
        for piece in pieces {
            try memory.remember(
                EvidenceQuestion(recognizing: piece), trust: try samples.trust(), now: samples.now)
        }
        return memory
    }

    private func explained(
        _ content: [UInt8], _ format: String, challenge: String? = nil, stale: [String] = [],
        after pieces: [[UInt8]] = []
    ) throws -> EvidenceExplanation {
        var known = EvidenceKnowledge(trust: try samples.trust(), now: samples.now)
        known.binding = challenge.map { .challenge($0) }
        known.stale = stale.map { .challenge($0) }
        known.memory = try memory(pieces)
        return try EvidenceQuestion(content, format: format).explained(known)
    }

    private func rules(_ explanation: EvidenceExplanation) -> [String] { explanation.faults.map(\.rule) }

    /// A piece of each format, bound to a challenge and nothing else.
    private func piece(_ format: String, _ challenge: String) throws -> JSON {
        let key = samples.attestKey
        switch format {
        case "apple-appattest": return try samples.appAttest(challenge, hash: hash(challenge))
        case "apple-appattest-assertion": return try assertion(challenge, counter: 9)
        case "android-key":
            return try samples.androidKey(challenge, hash: Array(challenge.utf8), key: key.publicKey)
        default:
            return try samples.play(challenge, hash: hash(challenge), isClassic: format.hasSuffix("classic"))
        }
    }

    @Test(arguments: EvidenceQuestion.formats)
    func `the same piece is a replay, and another of the same phone is none`(format: String) throws {
        let first = try piece(format, "one").serialized()
        let again = try explained(first, format, after: [first])
        #expect(rules(again).first == "attestation.replay")
        let field = try #require(again.faults.first)
        #expect(field.value == "the same again")
        #expect(field.expected == "evidence not taken before")
        let other = try explained(try piece(format, "two").serialized(), format, after: [first])
        #expect(!rules(other).contains("attestation.replay"))
        #expect(other.fields.contains { $0.rule == "attestation.replay" && $0.verdict == .ok })
        #expect(!(try explained(first, format)).fields.contains { $0.rule == "attestation.replay" })
    }

    @Test func `an assertion's counter must be above every earlier one, in whichever order they are told`() throws {
        let attestation = try samples.appAttest("a", hash: hash("a")).serialized()
        for earlier in [[3, 7], [7, 3], [7]] {
            let pieces = [attestation] + (try earlier.map { try assertion("e\($0)", counter: $0).serialized() })
            for counter in 1...9 {
                let now = try explained(
                    try assertion("now", counter: counter).serialized(), "apple-appattest-assertion", challenge: "now",
                    after: pieces)
                #expect(rules(now) == (counter > 7 ? [] : ["attestation.counter"]), "\(counter) after \(earlier)")
                guard counter <= 7 else { continue }
                #expect(now.faults.first?.expected == "a counter above 7")
                #expect(now.faults.first?.value == "\(counter)")
            }
        }
    }

    @Test func `bare assertions go by the key of the earlier attestation`() throws {
        let attestation = try bare(try samples.appAttest("a", hash: hash("a")))
        let earlier = try bare(try assertion("e", counter: 4))
        for (counter, wanted) in [(4, ["attestation.counter"]), (5, [])] {
            let now = try explained(
                try bare(try assertion("now", counter: counter)), "apple-appattest-assertion", challenge: "now",
                after: [earlier, attestation])
            #expect(rules(now) == wanted)
            #expect(now.fields.contains { $0.name == "signature" && $0.verdict == .ok })
        }
    }

    @Test func `of several attested keys the one whose signature is good is meant`() throws {
        let other = try P256.PrivateKey.generate(samples.entropy)
        let attestations = [
            try samples.appAttest("a", hash: hash("a")).serialized(),
            try samples.appAttest("b", hash: hash("b"), key: other).serialized(),
        ]
        let earlier = [
            try assertion("c", counter: 5).serialized(), try assertion("d", counter: 50, key: other).serialized(),
        ]
        for (key, counter, wanted) in [
            (samples.attestKey, 6, []), (other, 6, ["attestation.counter"]), (other, 51, []),
        ] {
            let now = try explained(
                try bare(try assertion("now", counter: counter, key: key)), "apple-appattest-assertion",
                challenge: "now", after: attestations + earlier)
            #expect(rules(now) == wanted)
        }
        // An earlier assertion that names no key may be either's: what is above it by luck is not called good.
        let vague = try explained(
            try assertion("now", counter: 6).serialized(), "apple-appattest-assertion", challenge: "now",
            after: attestations + [try bare(try assertion("e", counter: 5))])
        #expect(vague.holds)
        #expect(vague.fields.last?.rule == "attestation.counter")
        #expect(vague.fields.last?.verdict == .unchecked)
    }

    @Test func `an assertion by a key no earlier attestation is of is named`() throws {
        let stranger = try P256.PrivateKey.generate(samples.entropy)
        let now = try explained(
            try assertion("now", counter: 1, key: stranger).serialized(), "apple-appattest-assertion",
            challenge: "now", after: [try samples.appAttest("a", hash: hash("a")).serialized()])
        #expect(rules(now) == ["attestation.known_key"])
    }

    @Test(arguments: EvidenceQuestion.formats)
    func `evidence for an earlier challenge is stale, and what it is bound to is good`(format: String) throws {
        // The samples bind by a hash as section 14 does, and Play's texts are made of it.
        let binds = { (challenge: String) -> EvidenceQuestion.Binding in
            let text = Base64URL.encode(SHA256.hash(Array(challenge.utf8)))
            return .challenge(
                format == "play-integrity" ? text : format == "play-integrity-classic" ? text + "=" : challenge)
        }
        var known = EvidenceKnowledge(trust: try samples.trust(), now: samples.now)
        known.attestedKey = samples.attestKey.publicKey.x963
        known.binding = binds("new")
        let sent = try piece(format, "old")
        let other = try EvidenceQuestion(sent.serialized(), format: format).explained(known)
        #expect(other.faults.contains { ["attestation.nonce", "attestation.signature"].contains($0.rule) })
        for more in [["old"], ["older", "old"], ["old", "older"]] {
            known.stale = more.map(binds)
            let stale = try EvidenceQuestion(sent.serialized(), format: format).explained(known)
            #expect(rules(stale) == ["attestation.challenge"], "\(more)")
            #expect(stale.faults.first?.value.hasSuffix("given out earlier") == true)
        }
        known.stale = [binds("older")]
        let neither = try EvidenceQuestion(sent.serialized(), format: format).explained(known)
        #expect(neither.faults.contains { ["attestation.nonce", "attestation.signature"].contains($0.rule) })
    }

    @Test func `only an earlier challenge is known: evidence for it is stale, and other evidence is not judged`() throws
    {
        let old = try bare(try samples.appAttest("old", hash: hash("old")))
        #expect(rules(try explained(old, "apple-appattest", stale: ["old"])) == ["attestation.challenge"])
        let other = try explained(old, "apple-appattest", stale: ["older"])
        #expect(other.holds)
        #expect(other.fields.contains { $0.name == "nonce" && $0.verdict == .unchecked })
    }

    @Test func `what cannot be read to its end cannot be remembered, and the field is named`() throws {
        var memory = EvidenceMemory()
        let token = try samples.play("c", hash: hash("c")).serialized()
        let question = try EvidenceQuestion(recognizing: token)
        let closed = #expect(throws: EvidenceQuestionError.self) {
            try memory.remember(question, trust: AttestationTrust(), now: samples.now)
        }
        #expect(closed?.description.contains("Play's two keys") == true)
        #expect(memory.isEmpty)
        for text in ["", "hello", "{}", "a.b.c", #"{"format":"odd"}"#] {
            #expect(throws: EvidenceQuestionError.self, "\(text)") {
                try EvidenceQuestion(recognizing: Array(text.utf8))
            }
        }
    }
}
