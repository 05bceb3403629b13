public import HTTP

/// How a command reaches the control API: a daemon over HTTP, or the same handler in this process.
public protocol ControlPort: Sendable {
    /// Makes one call; the request's target is a path of the control API, such as `/v1/devices`.
    ///
    /// Throws ``ControlPortError`` where no answer came; an answer that refuses is an answer.
    func call(_ request: HTTPRequest) async throws(ControlPortError) -> HTTPResponse
}

/// Why a control port gave no answer.
public enum ControlPortError: Error, Sendable, Equatable {
    /// Nobody answers at that address, or the exchange broke off.
    case unreachable(url: String, reason: String)
    /// The address is not one a daemon can have.
    case badAddress(String, reason: String)

    /// A stable name for this error.
    public var code: String {
        switch self {
        case .unreachable: "control.unreachable"
        case .badAddress: "control.bad_address"
        }
    }
}

extension ControlPortError: CustomStringConvertible {
    /// The failure in a sentence.
    public var description: String {
        switch self {
        case .unreachable(let url, let reason): "no answer from \(url): \(reason)"
        case .badAddress(let text, let reason): "'\(text)' is no control address: \(reason)"
        }
    }
}
