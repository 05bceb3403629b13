extension ScanOutcome: LosslessStringConvertible {
    /// Reads the text form.
    ///
    /// Throws `DeviceTextError.unknownScanOutcome`, `unknownBadCapture` or `unusableLivenessReason`; each says what is
    /// allowed.
    public init(text: String) throws(DeviceTextError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let detail = parts.count == 2 ? String(parts[1]) : nil
        switch (String(parts[0]), detail) {
        case ("match", nil): self = .match
        case ("mismatch", nil): self = .mismatch
        case ("cancel", nil): self = .cancel
        case ("hang", nil): self = .hang
        case ("lockout", nil): self = .lockout
        case ("notEnrolled", nil): self = .notEnrolled
        case ("unsupported", nil): self = .unsupported
        case ("livenessFailed", let reason): self = try .livenessFailed(reason: Self.checkedReason(reason ?? ""))
        case ("badCapture", let cause):
            guard let known = BadCapture(rawValue: cause ?? "") else { throw .unknownBadCapture(cause ?? "") }
            self = .badCapture(known)
        default: throw .unknownScanOutcome(text)
        }
    }

    /// Reads the text form, or `nil` when it is not one.
    public init?(_ description: String) {
        guard let read = try? ScanOutcome(text: description) else { return nil }
        self = read
    }

    /// The text form `init(text:)` reads back as the same outcome.
    public var text: String {
        switch self {
        case .match: "match"
        case .mismatch: "mismatch"
        case .livenessFailed(let reason): "livenessFailed:\(reason)"
        case .badCapture(let cause): "badCapture:\(cause.rawValue)"
        case .cancel: "cancel"
        case .hang: "hang"
        case .lockout: "lockout"
        case .notEnrolled: "notEnrolled"
        case .unsupported: "unsupported"
        }
    }

    /// The text form.
    public var description: String { text }

    private static func checkedReason(_ reason: String) throws(DeviceTextError) -> String {
        let isPrintable = reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !reason.isEmpty, reason.count <= longestReason, isPrintable else {
            throw .unusableLivenessReason(reason)
        }
        return reason
    }
}

extension ScanOutcome: Codable {
    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try ScanOutcome(text: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
