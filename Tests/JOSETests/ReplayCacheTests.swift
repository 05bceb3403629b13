import Encoding
import JOSE
import Testing

/// A replay cache by reference: an expectation cannot change a value.
private final class Memory {
    private var cache: ReplayCache
    var count: Int { cache.count }
    var forgottenEarly: Int { cache.forgottenEarly }

    init(capacity: Int = 1_000_000, bucketSeconds: Int64 = 15) {
        cache = ReplayCache(capacity: capacity, bucketSeconds: bucketSeconds)
    }

    func insert(jkt: String, jti: String, expires: Instant, now: Instant) -> Bool {
        cache.insert(jkt: jkt, jti: jti, expires: expires, now: now)
    }
}

@Suite struct ReplayCacheTests {
    private let now = Instant(seconds: 1_790_000_000)

    @Test func `M11: the same proof a second time is a replay`() {
        let cache = Memory()
        let expires = now.adding(seconds: 70)
        #expect(cache.insert(jkt: "k", jti: "a", expires: expires, now: now))
        #expect(!cache.insert(jkt: "k", jti: "a", expires: expires, now: now))
        #expect(!cache.insert(jkt: "k", jti: "a", expires: expires.adding(seconds: 500), now: now))
        #expect(cache.insert(jkt: "k", jti: "b", expires: expires, now: now))
        #expect(cache.insert(jkt: "other", jti: "a", expires: expires, now: now))
        #expect(cache.count == 3)
    }

    @Test func `a proof is remembered for as long as it could be in time, at every distance of iat`() throws {
        let times = ProofTimes.standard
        let base = try BentProof()
        for offset in [-60, -30, 0, 10] as [Int64] {
            let cache = Memory()
            let proof = try base.settingClaim("iat", .int(now.seconds + offset)).check()
            #expect(cache.insert(jkt: proof.jkt, jti: proof.jti, expires: proof.memoryDeadline(now: now), now: now))
            for later in 0...200 as ClosedRange<Int64> {
                let then = now.adding(seconds: later)
                guard (try? DPoPVerifier.accept(proof, now: then, nonce: .ignored, times: times)) != nil else {
                    continue
                }
                let again = cache.insert(
                    jkt: proof.jkt, jti: proof.jti, expires: proof.memoryDeadline(now: then), now: then)
                #expect(!again, "iat \(offset), \(later) s later")
            }
        }
    }

    @Test func `what has expired is forgotten`() {
        let cache = Memory(bucketSeconds: 15)
        for second in 0..<1000 as Range<Int64> {
            let then = now.adding(seconds: second)
            #expect(cache.insert(jkt: "k", jti: "\(second)", expires: then.adding(seconds: 70), now: then))
            #expect(cache.count <= 70 + 2 * 15)
        }
        #expect(cache.forgottenEarly == 0)
        #expect(cache.insert(jkt: "k", jti: "0", expires: now.adding(seconds: 1070), now: now.adding(seconds: 1000)))
    }

    @Test func `a flood is bounded, forgets the oldest, and says so`() {
        let cache = Memory(capacity: 1000)
        for index in 0..<10_000 {
            let then = now.adding(milliseconds: Int64(index))
            #expect(
                cache.insert(jkt: "k", jti: "\(index)", expires: then.adding(seconds: Int64(index % 90)), now: then))
            #expect(cache.count <= 1000)
        }
        #expect(cache.forgottenEarly > 0)
    }

    @Test func `a clock set back neither crashes nor forgets`() {
        let cache = Memory()
        #expect(cache.insert(jkt: "k", jti: "a", expires: now.adding(seconds: 70), now: now))
        let before = now.adding(seconds: -10_000)
        #expect(!cache.insert(jkt: "k", jti: "a", expires: before.adding(seconds: 70), now: before))
        #expect(cache.insert(jkt: "k", jti: "b", expires: before.adding(seconds: 70), now: before))
        #expect(cache.insert(jkt: "k", jti: "c", expires: Instant(milliseconds: -1), now: Instant(milliseconds: -5)))
        #expect(!cache.insert(jkt: "k", jti: "c", expires: Instant(milliseconds: -1), now: Instant(milliseconds: -5)))
    }

    @Test func `M19: 100 000 proofs cost no more each than the first thousand`() {
        let clock = ContinuousClock()
        func cost(_ cache: Memory, _ range: Range<Int>) -> Duration {
            clock.measure {
                for index in range {
                    _ = cache.insert(
                        jkt: "k", jti: "\(index)", expires: now.adding(seconds: Int64(index % 70)), now: now)
                }
            }
        }
        let cache = Memory()
        _ = cost(cache, 0..<1000)
        let early = (0..<5).map { cost(cache, 1000 + $0 * 1000..<2000 + $0 * 1000) }.min() ?? .zero
        _ = cost(cache, 6000..<100_000)
        let late = (0..<5).map { cost(cache, 100_000 + $0 * 1000..<101_000 + $0 * 1000) }.min() ?? .zero
        #expect(cache.count == 105_000)
        // A cost that grew with the number kept would be near a hundredfold.
        #expect(late < early * 10)
    }
}
