public import Device

/// One way to move a clock.
public enum ClockMove: Sendable, Hashable {
    /// Sets it: `real`, moved by some seconds, or standing at an instant.
    case set(DeviceClock)
    /// Moves it by so many milliseconds, back for a negative number.
    case advance(milliseconds: Int64)
    /// Stops it where it is.
    case freeze

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads how far to move a clock: `90s`, `-2h`, `1500ms`; units `ms`, `s`, `m`, `h`, `d`.
    ///
    /// Throws `.invalid` naming the field given.
    public static func advance(by text: String, field: String) throws(EngineError) -> ClockMove {
        let digits = text.drop { "+-".contains($0) }.prefix { $0.isASCII && $0.isNumber }
        let sign = text.prefix { "+-".contains($0) }
        let unit = text.dropFirst(sign.count + digits.count)
        guard sign.count <= 1, let count = Int64(digits), let (_, each) = units.first(where: { $0.name == unit }) else {
            throw .invalid(field: field, rule: "a span is such as 90s, -2h or 1500ms (ms, s, m, h, d)", value: text)
        }
        let (span, isTooLong) = count.multipliedReportingOverflow(by: each)
        guard !isTooLong else { throw .invalid(field: field, rule: "a span ends within 300 years", value: text) }
        return .advance(milliseconds: sign == "-" ? -span : span)
    }
}
