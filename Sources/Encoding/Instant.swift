/// A point in time, as milliseconds since 1970-01-01T00:00:00Z (leap seconds not counted).
public struct Instant: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970.
    public let milliseconds: Int64

    /// Makes an instant from milliseconds since 1970.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Makes an instant from whole seconds since 1970, a NumericDate (RFC 7519 section 2).
    ///
    /// Seconds that would overflow become the farthest instant there is.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down: what goes into `iat` and `exp`.
    public var seconds: Int64 {
        let quotient = milliseconds / 1000
        return milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }

    /// The instant this many seconds later, or earlier for a negative number; saturates at the ends.
    public func adding(seconds: Int64) -> Instant {
        adding(milliseconds: Instant(seconds: seconds).milliseconds)
    }

    /// The instant this many milliseconds later, or earlier for a negative number; saturates at the ends.
    public func adding(milliseconds: Int64) -> Instant {
        let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
        return Instant(milliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }

    /// Whole seconds from another instant to this one, rounded towards zero; negative where this is earlier.
    public func seconds(since other: Instant) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        return overflow ? (self < other ? .min / 1000 : .max / 1000) : difference / 1000
    }

    /// Earlier comes first.
    public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
}

extension Instant: Codable {
    /// Reads the number of milliseconds.
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes the number of milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}
