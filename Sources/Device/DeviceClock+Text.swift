import Encoding

extension DeviceClock: LosslessStringConvertible {
    /// Reads `real`, `+90s` or `-2h` (units `s`, `m`, `h`, `d`), or `@1790000000` (seconds, at most three decimals).
    ///
    /// Throws `DeviceTextError.unreadableClock` for anything else and `clockOutOfRange` for a clock centuries away.
    public init(text: String) throws(DeviceTextError) {
        guard let read = Self.read(text) else { throw .unreadableClock(text) }
        self = try read.inRange()
    }

    /// Reads the text form, or `nil` when it is not one.
    public init?(_ description: String) {
        guard let read = try? DeviceClock(text: description) else { return nil }
        self = read
    }

    /// The shortest text form `init(text:)` reads back as the same clock.
    public var text: String {
        switch self {
        case .real: "real"
        case .offset(let seconds): Self.offsetText(seconds)
        case .frozen(let instant): "@" + Self.decimalText(milliseconds: instant.milliseconds)
        }
    }

    /// The text form.
    public var description: String { text }

    private static let units: [(letter: Character, seconds: Int64)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]

    private static func read(_ text: String) -> DeviceClock? {
        switch text.first {
        case "r" where text == "real": .real
        case "+": readOffset(text.dropFirst(), sign: 1)
        case "-": readOffset(text.dropFirst(), sign: -1)
        case "@": readMilliseconds(text.dropFirst()).map { .frozen(at: Instant(milliseconds: $0)) }
        default: nil
        }
    }

    private static func readOffset(_ text: Substring, sign: Int64) -> DeviceClock? {
        guard let unit = units.first(where: { $0.letter == text.last }),
            let count = readDigits(text.dropLast())
        else { return nil }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit.seconds)
        return overflow ? nil : .offset(seconds: sign * seconds)
    }

    private static func readMilliseconds(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = parts.first.flatMap(readDigits), seconds <= furthestSeconds + 1 else { return nil }
        guard parts.count == 2 else { return seconds * 1_000 }
        guard parts[1].count <= 3, let fraction = readDigits(parts[1]) else { return nil }
        let scale: Int64 = [100, 10, 1][parts[1].count - 1]
        return seconds * 1_000 + fraction * scale
    }

    /// `Int64.init` would also take a sign, which no field here has.
    private static func readDigits(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    private static func offsetText(_ seconds: Int64) -> String {
        let sign = seconds < 0 ? "-" : "+"
        let whole = units.first { seconds != 0 && seconds.magnitude.isMultiple(of: $0.seconds.magnitude) }
        guard let whole else { return "+0s" }
        return "\(sign)\(seconds.magnitude / whole.seconds.magnitude)\(whole.letter)"
    }

    private static func decimalText(milliseconds: Int64) -> String {
        let fraction = milliseconds % 1_000
        guard fraction != 0 else { return String(milliseconds / 1_000) }
        let digits = String(1_000 + fraction).dropFirst()
        return "\(milliseconds / 1_000).\(digits)"
    }
}

extension DeviceClock: Codable {
    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try DeviceClock(text: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
