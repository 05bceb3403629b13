import Crypto
import Encoding
import JOSE
import Testing

@Suite struct DPoPTimeTests {
    private let now = Instant(seconds: 1_790_000_000)
    private let nonces = DPoPNonces(secret: [UInt8](0..<32), audience: "https://idp.example", bucketSeconds: 60)

    private func proof(_ offset: Int64, nonce: String? = nil) throws -> CheckedProof {
        try BentProof().settingClaim("iat", .int(now.seconds + offset)).settingClaim("nonce", nonce.map(JSON.string))
            .check()
    }

    private func refusal(_ proof: CheckedProof, _ policy: NoncePolicy) -> DPoPRefusal? {
        do throws(DPoPRefusal) {
            try DPoPVerifier.accept(proof, now: now, nonce: policy)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (0, nil), (-60, nil), (10, nil), (-61, "dpop.iat.old"), (11, "dpop.iat.future"), (120, "dpop.iat.future"),
            (-3600, "dpop.iat.old"),
        ] as [(Int64, String?)])
    func `without a nonce, iat is good for 60 s back and 10 s ahead`(offset: Int64, rule: String?) throws {
        #expect(refusal(try proof(offset), .ignored)?.rule == rule)
        #expect(refusal(try proof(offset), .accepted(nonces))?.rule == rule)
    }

    @Test(arguments: [(0, nil), (-3600, nil), (60, nil), (61, "dpop.iat.future")] as [(Int64, String?)])
    func `with a fresh nonce only the future bound of 60 s holds`(offset: Int64, rule: String?) throws {
        let proof = try proof(offset, nonce: nonces.issue(now: now))
        #expect(refusal(proof, .required(nonces))?.rule == rule)
        #expect(refusal(proof, .accepted(nonces))?.rule == rule)
    }

    @Test func `iat at both ends of its range is compared without overflow`() throws {
        for issuedAt in [0, 253_402_300_799] as [Int64] {
            let proof = try BentProof().settingClaim("iat", .int(issuedAt)).check()
            #expect(refusal(proof, .ignored) != nil)
        }
    }

    @Test func `M18: a nonce that is missing, made up, old, or of another server asks for a new one`() throws {
        let other = DPoPNonces(secret: [UInt8](0..<32), audience: "https://api.example", bucketSeconds: 60)
        #expect(refusal(try proof(0), .required(nonces)) == .nonceMissing)
        let made = ["made-up", String(repeating: "A", count: 32), other.issue(now: now)]
        for nonce in made + [nonces.issue(now: now.adding(seconds: -121))] {
            for policy in [NoncePolicy.required(nonces), .accepted(nonces)] {
                let refusal = refusal(try proof(0, nonce: nonce), policy)
                #expect(refusal == .nonceStale)
                #expect(refusal?.oauthError == "use_dpop_nonce")
            }
            #expect(refusal(try proof(0, nonce: nonce), .ignored) == nil)
        }
    }

    @Test func `a stale nonce is the answer even when iat is off too`() throws {
        #expect(refusal(try proof(-3600, nonce: "old"), .required(nonces)) == .nonceStale)
        #expect(refusal(try proof(-3600), .required(nonces)) == .nonceMissing)
    }

    @Test func `a nonce is good for one to two stretches of time and not before`() {
        for start in stride(from: 0, to: 180_000, by: 7_001) as StrideTo<Int64> {
            let given = now.adding(milliseconds: start)
            let nonce = nonces.issue(now: given)
            #expect(nonces.isFresh(nonce, now: given))
            #expect(nonces.isFresh(nonce, now: given.adding(seconds: 60)))
            #expect(!nonces.isFresh(nonce, now: given.adding(seconds: 120)))
            #expect(!nonces.isFresh(nonce, now: given.adding(seconds: -60)))
        }
    }

    @Test func `nonces are printable, alike within a stretch and unlike across secrets`() {
        let nonce = nonces.issue(now: now)
        #expect(nonce.utf8.count == 32)
        #expect(nonce.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") })
        let other = DPoPNonces(secret: [UInt8](1..<33), audience: "https://idp.example", bucketSeconds: 60)
        #expect(other.issue(now: now) != nonce)
        #expect(!other.isFresh(nonce, now: now))
    }

    @Test func `every changed character of a nonce is noticed`() {
        let bytes = Array(nonces.issue(now: now).utf8)
        for index in bytes.indices {
            for replacement in Array("Aa0_-=. ".utf8) where bytes[index] != replacement {
                var changed = bytes
                changed[index] = replacement
                #expect(!nonces.isFresh(String(decoding: changed, as: UTF8.self), now: now))
            }
        }
        #expect(!nonces.isFresh("", now: now))
    }

    @Test func `nonces work before 1970 and do not show their secret`() {
        let early = Instant(seconds: -1)
        #expect(nonces.isFresh(nonces.issue(now: early), now: early))
        #expect(nonces.isFresh(nonces.issue(now: early), now: Instant(seconds: 1)))
        var dumped = ""
        dump(nonces, to: &dumped)
        #expect(!dumped.contains("31") && "\(nonces)" == "DPoPNonces(https://idp.example)")
    }
}
