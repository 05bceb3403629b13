/// Why a session was not renewed.
///
/// Source: SenseCrypt description, "Session length and refresh" and "Refresh errors".
public enum RefreshError: Error, Codable, Sendable, Hashable {
    /// The issuer ended the session, or nothing is left to renew it with: run the sign-in again.
    ///
    /// The stored tokens are gone; keys and enrolments stay.
    case signInRequired(message: String)
    /// No answer came: try again; the session is as it was.
    case network(message: String)
    /// The issuer could not serve the refresh, or its answer cannot be used: try again later; the session is kept.
    case server(message: String)

    /// The name the description gives it.
    public var name: String {
        switch self {
        case .signInRequired: "SignInRequired"
        case .network: "Network"
        case .server: "Server"
        }
    }

    /// A stable name for this error, for the control API, reports and tests.
    public var code: String {
        switch self {
        case .signInRequired: "sign_in_required"
        case .network: "refresh_network"
        case .server: "refresh_server"
        }
    }

    /// What happened, in a sentence without secrets.
    public var message: String {
        switch self {
        case .signInRequired(let message), .network(let message), .server(let message): message
        }
    }
}

extension RefreshError: CustomStringConvertible {
    /// The name and what happened.
    public var description: String { "\(name): \(message)" }
}
