public import Device
public import Encoding

/// What an app sees of a sign-in under way.
///
/// Source: SenseCrypt description, "The state machine"; `postingResultFailed`, `signedIn` and `failed` are its
/// names, the others are assumed.
public enum SignInState: Codable, Sendable, Hashable {
    /// Made, not started.
    case idle
    /// Finding the server and opening a session with it (call 1).
    case starting
    /// Proving the device key and fetching the sealed face token (call 2).
    case fetchingFaceToken
    /// The camera is open. `attemptsLeft` mismatches are allowed; `lastOutcome` says why it opened again.
    case awaitingFace(attemptsLeft: Int, lastOutcome: ScanReport?)
    /// A live face is being matched, or a mismatch reported. `attemptsLeft` already counts that mismatch.
    case checkingFace(attemptsLeft: Int)
    /// The face matched, and the key operation the app asked for runs.
    case runningPki
    /// A browser is on its way through the authorization server. `url` is what a person has to open, or nil where the
    /// phone goes there itself.
    case authorizing(url: String?)
    /// The browser came back with a code, which is redeemed for tokens, and they are stored.
    case redeeming
    /// The match is proven: completion (call 3), tokens (call 4), and storing them.
    case postingResult
    /// Parked: the result could not be delivered and waits for ``Event/retry``, which costs no scan.
    case postingResultFailed(ParkCause)
    /// Done; the session is stored.
    case signedIn(SignedInSummary)
    /// Over; no session is left behind.
    case failed(SignInFailure)

    /// The state's name, as the description and the control API spell it.
    public var name: String {
        switch self {
        case .idle: "idle"
        case .starting: "starting"
        case .fetchingFaceToken: "fetchingFaceToken"
        case .awaitingFace: "awaitingFace"
        case .checkingFace: "checkingFace"
        case .runningPki: "runningPki"
        case .authorizing: "authorizing"
        case .redeeming: "redeeming"
        case .postingResult: "postingResult"
        case .postingResultFailed: "postingResultFailed"
        case .signedIn: "signedIn"
        case .failed: "failed"
        }
    }

    /// Whether the state is final.
    public var isTerminal: Bool {
        switch self {
        case .signedIn, .failed: true
        case .idle, .starting, .fetchingFaceToken, .awaitingFace, .checkingFace, .authorizing, .redeeming,
            .runningPki, .postingResult, .postingResultFailed:
            false
        }
    }

    /// Whether the flow waits for a person to retry.
    public var isParked: Bool {
        if case .postingResultFailed = self { true } else { false }
    }
}

/// Why the camera opened again.
public enum ScanReport: Codable, Sendable, Hashable {
    /// The face did not open the face token; it cost an attempt.
    case mismatch
    /// The liveness check failed, for the reason named; it cost nothing.
    case livenessFailed(reason: String)
    /// There was no usable picture; it cost nothing.
    case badCapture(BadCapture)

    /// The report's name.
    public var name: String {
        switch self {
        case .mismatch: "mismatch"
        case .livenessFailed: "livenessFailed"
        case .badCapture: "badCapture"
        }
    }
}

/// Why a proven result could not be delivered.
public enum ParkCause: Codable, Sendable, Hashable {
    /// The server could not be reached or its reply was lost, twice.
    case network
    /// The server answered with this status of 500 or above.
    case server(status: Int)
    /// The server answered 429; with the seconds to wait when it said so.
    case rateLimited(retryAfterSeconds: Int64?)

    /// The cause's name.
    public var name: String {
        switch self {
        case .network: "network"
        case .server: "server"
        case .rateLimited: "rateLimited"
        }
    }

    /// The cause as a sentence for a person.
    public var message: String {
        switch self {
        case .network: "the server could not be reached"
        case .server(let status): "the server answered \(status)"
        case .rateLimited(let seconds?): "the server asks to wait \(seconds) seconds"
        case .rateLimited(nil): "the server asks to wait"
        }
    }
}

/// What a finished sign-in tells the app; the tokens are in the stored session.
public struct SignedInSummary: Codable, Sendable, Hashable {
    /// The issuer that signed the user in.
    public let issuer: String
    /// The ID token's `sub`; nil where the server issued no ID token.
    public let subject: String?
    /// The ID token's `email`, when it has one.
    public let email: String?
    /// The scopes granted.
    public let scope: [String]
    /// When the access token ends, on the device's clock.
    public let expiresAt: Instant
    /// Whether a refresh token was issued.
    public let canRefresh: Bool
    /// What came of the key operation, where the app asked for one.
    public let pki: SignInPKIResult?
}
