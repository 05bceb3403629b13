public import Encoding

/// The `Retry-After` field (RFC 9110 section 10.2.3).
public enum RetryAfter {
    /// The longest wait that is believed, in seconds: one day.
    public static let limit: Int64 = 86_400

    /// Seconds to wait, from a number of seconds or an HTTP date; nil where the value is neither.
    ///
    /// A date in the past is 0, and no answer is above ``limit``.
    public static func seconds(_ value: String?, at now: Instant) -> Int64? {
        guard let value else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy(isDigit) {
            return min(Int64(value) ?? limit, limit)
        }
        guard let date = httpDate(value) else { return nil }
        return min(max(date.seconds(since: now), 0), limit)
    }

    /// Reads an IMF-fixdate such as `Sun, 06 Nov 1994 08:49:37 GMT`; the two obsolete forms are not read.
    static func httpDate(_ text: String) -> Instant? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT" else { return nil }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard let day = number(parts[1], digits: 2), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], digits: 4), time.count == 3, let hour = number(time[0], digits: 2),
            let minute = number(time[1], digits: 2), let second = number(time[2], digits: 2),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: Int64(month) + 1, day: day)
        return Instant(seconds: ((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy(isDigit) else { return nil }
        return Int64(text)
    }

    /// Days from 1970-01-01 to a date of the Gregorian calendar, counted in years that begin in March so that the
    /// leap day is the last one.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + dayOfYear - 719_468
    }
}
