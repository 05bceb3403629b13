import Device
import Encoding
import Testing

@Suite struct `Text forms` {
    static let outcomes: [ScanOutcome] =
        [.match, .mismatch, .cancel, .hang, .livenessFailed(reason: "photo"), .livenessFailed(reason: "a: b, c")]
        + BadCapture.allCases.map { .badCapture($0) }

    @Test(arguments: outcomes)
    func `a scan outcome reads back from its text`(_ outcome: ScanOutcome) throws {
        #expect(try ScanOutcome(text: outcome.text) == outcome)
        #expect(ScanOutcome(outcome.description) == outcome)
    }

    @Test(arguments: ["", "Match", "match:", "hang:x", "mismatch ", "badcapture:blurred", ":", "cancel\n"])
    func `an unknown scan is refused by a message that lists the known ones`(_ text: String) throws {
        let error = #expect(throws: DeviceTextError.unknownScanOutcome(text)) { try ScanOutcome(text: text) }
        let message = try #require(error).description
        for name in ["match", "mismatch", "livenessFailed:", "badCapture:", "cancel", "hang"] {
            #expect(message.contains(name))
        }
    }

    @Test(arguments: ["badCapture", "badCapture:", "badCapture:dark"])
    func `an unknown bad capture is refused by a message that lists the known ones`(_ text: String) throws {
        let error = #expect(throws: DeviceTextError.self) { try ScanOutcome(text: text) }
        let message = try #require(error).description
        #expect(error?.code == "device.scan.badCapture")
        for cause in BadCapture.allCases { #expect(message.contains(cause.rawValue)) }
    }

    @Test(arguments: ["livenessFailed", "livenessFailed:", "livenessFailed:a\nb", "livenessFailed:\u{7F}"])
    func `a liveness failure needs a printable reason`(_ text: String) {
        let error = #expect(throws: DeviceTextError.self) { try ScanOutcome(text: text) }
        #expect(error?.code == "device.scan.livenessReason")
    }

    @Test func `a liveness reason has at most 64 characters, and an error never repeats more than 80`() throws {
        let longest = String(repeating: "é", count: 64)
        #expect(try ScanOutcome(text: "livenessFailed:" + longest) == .livenessFailed(reason: longest))
        let huge = String(repeating: "x", count: 100_000)
        let error = #expect(throws: DeviceTextError.self) { try ScanOutcome(text: "livenessFailed:" + huge) }
        #expect(try #require(error).description.count < 300)
    }

    @Test(arguments: [
        ("real", DeviceClock.real), ("+90s", .offset(seconds: 90)), ("-2h", .offset(seconds: -7_200)),
        ("+1d", .offset(seconds: 86_400)), ("-5m", .offset(seconds: -300)), ("+0s", .offset(seconds: 0)),
        ("@1790000000", .frozen(at: Instant(seconds: 1_790_000_000))), ("@0", .frozen(at: Instant(seconds: 0))),
        ("@1790000000.250", .frozen(at: Instant(milliseconds: 1_790_000_000_250))),
        ("@7.001", .frozen(at: Instant(milliseconds: 7_001))),
    ])
    func `a clock's text is the one it is written as`(_ text: String, _ clock: DeviceClock) throws {
        #expect(try DeviceClock(text: text) == clock)
        #expect(clock.text == text)
    }

    @Test func `a clock may be written at length`() throws {
        #expect(try DeviceClock(text: "+7200s") == .offset(seconds: 7_200))
        #expect(try DeviceClock(text: "-0h") == .offset(seconds: 0))
        #expect(try DeviceClock(text: "@5.5") == .frozen(at: Instant(milliseconds: 5_500)))
    }

    @Test(arguments: [
        "", "Real", "90s", "+90", "+s", "+-9s", "++9s", "+9w", "+1.5h", "-٣s", "@", "@-5", "@1.", "@1.2345", "@1e3",
        "@.5", "+9223372036854775807d", "@99999999999999999999", " real", "real ",
    ])
    func `anything else is no clock`(_ text: String) {
        let error = #expect(throws: DeviceTextError.unreadableClock(text)) { try DeviceClock(text: text) }
        #expect(error?.description.contains("real") == true)
    }

    @Test func `every whole offset reads back from its text`() throws {
        var number: Int64 = 1
        for _ in 0..<2_000 {
            number = (number &* 6_364_136_223_846_793_005) &+ 1_442_695_040_888_963_407
            let clock = DeviceClock.offset(seconds: number % DeviceClock.furthestSeconds)
            #expect(try DeviceClock(text: clock.text) == clock)
        }
    }

    @Test(arguments: ["pixel-7", "a", "0", "a.b_c-d", String(repeating: "x", count: 64)])
    func `a device name of lower-case letters, digits and three marks is taken`(_ name: String) {
        #expect(DeviceID(rawValue: name)?.rawValue == name)
    }

    @Test(arguments: ["", "-a", ".a", "_a", "A", "a b", "a/b", "é", "a\u{0}", String(repeating: "x", count: 65)])
    func `any other device name is refused`(_ name: String) {
        #expect(DeviceID(rawValue: name) == nil)
    }
}
