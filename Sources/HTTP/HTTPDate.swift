public import Encoding

/// The date format of HTTP (RFC 9110 section 5.6.7): `Mon, 30 Nov 2026 04:50:00 GMT`.
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// An instant as a field's value, fractions of a second dropped.
    public static func text(_ instant: Instant) -> String {
        let time = CalendarTime(instant)
        // 1970 began on a Thursday.
        let day = days[Int(((instant.seconds / 86_400) % 7 + 7) % 7)]
        return "\(day), \(padded(time.day)) \(months[time.month - 1]) \(time.year) "
            + "\(padded(time.hour)):\(padded(time.minute)):\(padded(time.second)) GMT"
    }

    /// The instant of a field's value; nil for any other format.
    public static func instant(_ text: String) -> Instant? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])),
            let day = Int(parts[1]), let year = Int(parts[3])
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3 else { return nil }
        return CalendarTime(
            year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])?.instant
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
