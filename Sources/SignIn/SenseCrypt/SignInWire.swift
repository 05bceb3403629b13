public import OAuth
public import Profiles

/// The names of the wire that the machine itself needs, out of the profile: all of them assumed.
///
/// What a signed ceremony is called inside is the edge's to write; see `CeremonyJWS`.
public struct SignInWire: Codable, Sendable, Hashable {
    /// What the face-token fetch appends to `device_ceremony_endpoint`.
    public let faceTokenPath: String
    /// What a mismatch report appends.
    public let attemptPath: String
    /// What an abort appends.
    public let abortPath: String
    /// What the members of requests and answers are called.
    public let members: SenseCryptProfile.Members
    /// The `error` of a completion whose generation is not the current one.
    public let faceTokenStale: String
    /// The `error` of a start that carries no evidence about the app where the tenant wants it.
    public let attestationRequired: String
    /// The `error` of a start whose evidence breaks a rule.
    public let attestationFailed: String

    /// Takes the names from a profile.
    public init(_ profile: SenseCryptProfile) {
        faceTokenPath = profile.ceremonyPaths.faceToken
        attemptPath = profile.ceremonyPaths.attempt
        abortPath = profile.ceremonyPaths.abort
        members = profile.members
        faceTokenStale = profile.errors.faceTokenStale.code
        attestationRequired = profile.errors.attestationRequired.code
        attestationFailed = profile.errors.attestationFailed.code
    }

    /// The names of the built-in profile.
    public static let builtIn = SignInWire(.builtIn)

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

    /// Reads the names of a stored flow; one that was stored before there was a name has the built-in one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        faceTokenPath = try container.decode(String.self, forKey: .faceTokenPath)
        attemptPath = try container.decode(String.self, forKey: .attemptPath)
        abortPath = try container.decode(String.self, forKey: .abortPath)
        faceTokenStale = try container.decode(String.self, forKey: .faceTokenStale)
        let builtIn = Self.builtIn
        members =
            try container.decodeIfPresent(SenseCryptProfile.Members.self, forKey: .members) ?? builtIn.members
        attestationRequired =
            try container.decodeIfPresent(String.self, forKey: .attestationRequired) ?? builtIn.attestationRequired
        attestationFailed =
            try container.decodeIfPresent(String.self, forKey: .attestationFailed) ?? builtIn.attestationFailed
    }
    /// Writes the names; those of members only where they are not the built-in ones, since every flow has a copy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(faceTokenPath, forKey: .faceTokenPath)
        try container.encode(attemptPath, forKey: .attemptPath)
        try container.encode(abortPath, forKey: .abortPath)
        try container.encode(faceTokenStale, forKey: .faceTokenStale)
        if members != Self.builtIn.members { try container.encode(members, forKey: .members) }
        try container.encode(attestationRequired, forKey: .attestationRequired)
        try container.encode(attestationFailed, forKey: .attestationFailed)
    }
}
