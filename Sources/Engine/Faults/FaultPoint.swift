public import SignIn

/// A place where a fault can take place: a call of the phone, or something it does without the network.
public enum FaultPoint: Sendable, Hashable, Codable {
    /// One of the calls of a sign-in, of a refresh, or behind them.
    case call(Call.Purpose)
    /// Fetching an issuer's metadata.
    case discovery
    /// Registering a device key.
    case enroll
    /// Asking for a sign-up code.
    case signup
    /// Calling an API with the session.
    case fetch
    /// Something the phone does by itself.
    case deed(Deed)

    /// What a phone does without the network.
    public enum Deed: String, Sendable, Hashable, Codable, CaseIterable {
        /// Signing a device ceremony.
        case sign
        /// Showing the camera to a face.
        case capture
        /// Opening the face token.
        case open = "open-face-token"
        /// Running a key operation.
        case pki
        /// Sealing the face token anew.
        case rotate
        /// Storing a session.
        case commit
    }

    /// Every place, by the name a script uses.
    public static let all: [FaultPoint] =
        [.discovery] + Call.Purpose.allCases.map { .call($0) } + [.enroll, .signup, .fetch]
        + Deed.allCases.map { .deed($0) }

    /// The name a script uses.
    public var name: String {
        switch self {
        case .call(let purpose): purpose.rawValue
        case .discovery: "discovery"
        case .enroll: "enroll"
        case .signup: "signup"
        case .fetch: "fetch"
        case .deed(let deed): deed.rawValue
        }
    }

    /// Whether it crosses the network.
    var isNetwork: Bool { if case .deed = self { false } else { true } }

    /// Whether what goes out there has a DPoP proof of the install's key.
    var carriesProof: Bool {
        switch self {
        case .fetch, .call(.start), .call(.completion), .call(.token), .call(.refresh): true
        default: false
        }
    }
}

extension Action {
    /// What the phone does for it without the network; nil where it does nothing, or calls somebody.
    var deed: FaultPoint.Deed? {
        switch self {
        case .signCeremony: .sign
        case .capture: .capture
        case .openFaceToken: .open
        case .runPKI: .pki
        case .rotateFaceToken: .rotate
        case .commit: .commit
        default: nil
        }
    }
}
