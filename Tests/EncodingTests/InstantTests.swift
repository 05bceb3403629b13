import Encoding
import Testing

@Suite struct InstantTests {
    @Test func `seconds round down on both sides of 1970`() {
        #expect(Instant(milliseconds: 1_999).seconds == 1)
        #expect(Instant(milliseconds: -1).seconds == -1)
        #expect(Instant(milliseconds: -1_000).seconds == -1)
        #expect(Instant(milliseconds: -1_001).seconds == -2)
    }

    @Test func `arithmetic saturates instead of trapping`() {
        #expect(Instant(seconds: .max).milliseconds == .max)
        #expect(Instant(seconds: .min).milliseconds == .min)
        #expect(Instant(seconds: .max).adding(seconds: 1) == Instant(seconds: .max))
        #expect(Instant(seconds: .min).seconds(since: Instant(seconds: .max)) < 0)
        #expect(Instant(seconds: .max).seconds(since: Instant(seconds: .min)) > 0)
    }
}
