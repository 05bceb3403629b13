/// An instant's date and time of day in UTC, by the Gregorian calendar.
public struct CalendarTime: Sendable, Hashable {
    /// The year, as in 2026.
    public let year: Int
    /// 1...12.
    public let month: Int
    /// 1...31.
    public let day: Int
    /// 0...23.
    public let hour: Int
    /// 0...59.
    public let minute: Int
    /// 0...59; leap seconds are not counted.
    public let second: Int

    /// The date and time of an instant, fractions of a second dropped.
    public init(_ instant: Instant) {
        let seconds = instant.seconds
        let days = Int((seconds - Self.remainder(seconds, 86_400)) / 86_400)
        let ofDay = Int(Self.remainder(seconds, 86_400))
        (hour, minute, second) = (ofDay / 3600, ofDay / 60 % 60, ofDay % 60)
        (year, month, day) = Self.date(days)
    }

    /// The date and time made of these numbers, or nil where the calendar has no such day or the clock no such time.
    ///
    /// Years 0...9999.
    public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second),
            Self.date(Self.days(year, month, day)) == (year, month, day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// The instant of this date and time.
    public var instant: Instant {
        let days = Int64(Self.days(year, month, day))
        return Instant(seconds: days * 86_400 + Int64(hour * 3600 + minute * 60 + second))
    }

    /// As in `2026-11-30T04:50:00Z`.
    public var iso8601: String {
        "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))T"
            + "\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))Z"
    }

    static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func remainder(_ value: Int64, _ divisor: Int64) -> Int64 {
        let rest = value % divisor
        return rest < 0 ? rest + divisor : rest
    }

    // Both directions count years from March, so that the leap day is a year's last.

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func date(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
