public import OAuth
public import Profiles

/// The names of the wire that the machine itself needs, out of the profile: all of them assumed.
///
/// What a signed ceremony is called inside is the edge's to write; see `CeremonyJWS`. All flows of a world share one set
/// of names, so that a machine is copied without them.
public struct SignInWire: Codable, Sendable, Hashable {
    private final class Names: Sendable {
        let faceTokenPath: String
        let attemptPath: String
        let abortPath: String
        let members: SenseCryptProfile.Members
        let faceTokenStale: String
        let attestationRequired: String
        let attestationFailed: String

        init(
            faceTokenPath: String, attemptPath: String, abortPath: String, members: SenseCryptProfile.Members,
            faceTokenStale: String, attestationRequired: String, attestationFailed: String
        ) {
            self.faceTokenPath = faceTokenPath
            self.attemptPath = attemptPath
            self.abortPath = abortPath
            self.members = members
            self.faceTokenStale = faceTokenStale
            self.attestationRequired = attestationRequired
            self.attestationFailed = attestationFailed
        }
    }

    private let names: Names

    /// What the face-token fetch appends to `device_ceremony_endpoint`.
    public var faceTokenPath: String { names.faceTokenPath }
    /// What a mismatch report appends.
    public var attemptPath: String { names.attemptPath }
    /// What an abort appends.
    public var abortPath: String { names.abortPath }
    /// What the members of requests and answers are called.
    public var members: SenseCryptProfile.Members { names.members }
    /// The `error` of a completion whose generation is not the current one.
    public var faceTokenStale: String { names.faceTokenStale }
    /// The `error` of a start that carries no evidence about the app where the tenant wants it.
    public var attestationRequired: String { names.attestationRequired }
    /// The `error` of a start whose evidence breaks a rule.
    public var attestationFailed: String { names.attestationFailed }

    /// Takes the names from a profile.
    public init(_ profile: SenseCryptProfile) {
        names = Names(
            faceTokenPath: profile.ceremonyPaths.faceToken, attemptPath: profile.ceremonyPaths.attempt,
            abortPath: profile.ceremonyPaths.abort, members: profile.members,
            faceTokenStale: profile.errors.faceTokenStale.code,
            attestationRequired: profile.errors.attestationRequired.code,
            attestationFailed: profile.errors.attestationFailed.code)
    }

    /// The names of the built-in profile.
    public static let builtIn = SignInWire(.builtIn)

    /// Whether all names are the same.
    public static func == (left: SignInWire, right: SignInWire) -> Bool {
        left.names === right.names
            || left.faceTokenPath == right.faceTokenPath && left.attemptPath == right.attemptPath
                && left.abortPath == right.abortPath && left.members == right.members
                && left.faceTokenStale == right.faceTokenStale && left.attestationRequired == right.attestationRequired
                && left.attestationFailed == right.attestationFailed
    }

    /// Hashes some of the names.
    public func hash(into hasher: inout Hasher) { hasher.combine(faceTokenPath) }

    /// Whether an `error` speaks about evidence of the app, or about an attestation of the client.
    public func isAboutAttestation(_ code: OAuthErrorCode) -> Bool {
        switch code {
        case .useAttestationChallenge, .useFreshAttestation, .invalidClientAttestation: true
        default: [attestationRequired, attestationFailed].contains(code.rawValue)
        }
    }
}

extension SignInWire {
    private enum CodingKeys: String, CodingKey {
        case faceTokenPath, attemptPath, abortPath, members, faceTokenStale, attestationRequired, attestationFailed
    }

    /// Reads the names of a stored flow; what is not there is built in.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard !container.allKeys.isEmpty else {
            self = .builtIn
            return
        }
        let builtIn = Self.builtIn.names
        func text(_ key: CodingKeys, _ standard: String) throws -> String {
            try container.decodeIfPresent(String.self, forKey: key) ?? standard
        }
        names = Names(
            faceTokenPath: try text(.faceTokenPath, builtIn.faceTokenPath),
            attemptPath: try text(.attemptPath, builtIn.attemptPath),
            abortPath: try text(.abortPath, builtIn.abortPath),
            members: try container.decodeIfPresent(SenseCryptProfile.Members.self, forKey: .members)
                ?? builtIn.members,
            faceTokenStale: try text(.faceTokenStale, builtIn.faceTokenStale),
            attestationRequired: try text(.attestationRequired, builtIn.attestationRequired),
            attestationFailed: try text(.attestationFailed, builtIn.attestationFailed))
    }

    /// Writes the names, or nothing where they are the built-in ones: every stored flow has a copy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        guard self != .builtIn else { return }
        try container.encode(faceTokenPath, forKey: .faceTokenPath)
        try container.encode(attemptPath, forKey: .attemptPath)
        try container.encode(abortPath, forKey: .abortPath)
        try container.encode(members, forKey: .members)
        try container.encode(faceTokenStale, forKey: .faceTokenStale)
        try container.encode(attestationRequired, forKey: .attestationRequired)
        try container.encode(attestationFailed, forKey: .attestationFailed)
    }
}
