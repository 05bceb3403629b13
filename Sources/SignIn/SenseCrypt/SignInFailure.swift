/// Why a sign-in failed.
///
/// None of these leaves a session behind.
///
/// Source: SenseCrypt description, "Failures"; the names the text does not state are assumed.
public enum SignInFailure: Error, Codable, Sendable, Hashable {
    /// No key for this user here, or none the server knows. Enrol, then start again.
    case notEnrolled
    /// The server could not be reached for discovery, start or face-token fetch. Start again.
    case network(message: String)
    /// The server failed, or answered something this client cannot use.
    case server(message: String)
    /// Too many starts. Start again later, after this many seconds when the server said so.
    case rateLimited(retryAfterSeconds: Int64?)
    /// The server does not let this application or user sign in here.
    case notAllowed(message: String)
    /// The server wants evidence about the app, or an attestation of the client, that it did not get or cannot take.
    case attestationFailed(message: String)
    /// The third face mismatch. Start a new session.
    case faceMismatch
    /// The person gave up after a failed liveness check.
    case livenessFailed
    /// The session is over at the server. Start a new session.
    case sessionExpired
    /// The person, or the app, cancelled.
    case cancelled
    /// A newer generation of the face token exists. Start again.
    case faceTokenStale
    /// A key this flow needs is not usable any more. Enrol again.
    case keyUnavailable
    /// The tenant has no Face PKI, or not the class the operation needs. Refused before the face scan.
    case pkiNotAvailable(message: String)
    /// The key operation breaks the rule named. Refused before the face scan.
    case invalidPkiRequest(message: String)
    /// The application may not use tenant-wide keys. Refused before the face scan.
    case pkiScopeNotAllowed
    /// The face token does not hold the keys yet. One plain sign-in fixes it.
    case pkiKeysNotReady
    /// The way through the browser cannot be gone without a person, who has to see a page. Use a browser.
    case browserNeeded(message: String)
    /// The redirect that came back does not belong to this sign-in, or not to this server, for the rule named.
    case invalidRedirect(message: String)
    /// The configuration cannot be used, for the rule named.
    case invalidConfig(message: String)
    /// The tokens that came back are not to be trusted, for the rule named. They were revoked.
    case invalidIdToken(message: String)

    /// The failure's stable name.
    public var reason: String {
        switch self {
        case .notEnrolled: "notEnrolled"
        case .network: "network"
        case .server: "server"
        case .rateLimited: "rateLimited"
        case .notAllowed: "notAllowed"
        case .attestationFailed: "attestationFailed"
        case .faceMismatch: "faceMismatch"
        case .livenessFailed: "livenessFailed"
        case .sessionExpired: "sessionExpired"
        case .cancelled: "cancelled"
        case .faceTokenStale: "faceTokenStale"
        case .keyUnavailable: "keyUnavailable"
        case .pkiNotAvailable: "pkiNotAvailable"
        case .invalidPkiRequest: "invalidPkiRequest"
        case .pkiScopeNotAllowed: "pkiScopeNotAllowed"
        case .pkiKeysNotReady: "pkiKeysNotReady"
        case .browserNeeded: "browserNeeded"
        case .invalidRedirect: "invalidRedirect"
        case .invalidConfig: "invalidConfig"
        case .invalidIdToken: "invalidIdToken"
        }
    }

    /// The failure as a sentence for a person; never a secret.
    public var message: String {
        switch self {
        case .notEnrolled: "this device holds no key for this user that the server knows"
        case .network(let message): message
        case .server(let message): message
        case .rateLimited(let seconds?): "too many sign-ins; try again in \(seconds) seconds"
        case .rateLimited(nil): "too many sign-ins; try again later"
        case .notAllowed(let message): message
        case .attestationFailed(let message): message
        case .faceMismatch: "the face did not match three times"
        case .livenessFailed: "the liveness check failed and the capture was closed"
        case .sessionExpired: "the server ended this sign-in session"
        case .cancelled: "the sign-in was cancelled"
        case .faceTokenStale: "the server holds a newer face token"
        case .keyUnavailable: "a key this sign-in needs is not usable any more"
        case .pkiNotAvailable(let message): message
        case .invalidPkiRequest(let message): message
        case .pkiScopeNotAllowed: "this application is not allowed to use the tenant's keys"
        case .pkiKeysNotReady: "the face token does not hold the keys yet; one plain sign-in adds them"
        case .browserNeeded(let message): message
        case .invalidRedirect(let message): message
        case .invalidConfig(let message): message
        case .invalidIdToken(let message): message
        }
    }
}
