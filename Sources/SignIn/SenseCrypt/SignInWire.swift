public import OAuth
public import Profiles

/// The names of the wire that the machine itself needs, out of the profile: all of them assumed.
///
/// What a signed ceremony is called inside is the edge's to write; see `CeremonyJWS`. All flows of a world share one set
/// of names, so that a machine is copied without them.
public struct SignInWire: Codable, Sendable, Hashable {
    fileprivate struct Names: Codable, Sendable, Hashable {
        let faceTokenPath: String
        let attemptPath: String
        let abortPath: String
        let members: SenseCryptProfile.Members
        let faceTokenStale: String
        let attestationRequired: String
        let attestationFailed: String

        enum CodingKeys: String, CodingKey {
            case faceTokenPath, attemptPath, abortPath, members, faceTokenStale, attestationRequired, attestationFailed
        }
    }

    private final class Shared: Sendable {
        let names: Names

        init(_ names: Names) { self.names = names }
    }

    private let shared: Shared
    fileprivate var names: Names { shared.names }

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
        shared = Shared(
            Names(
                faceTokenPath: profile.ceremonyPaths.faceToken, attemptPath: profile.ceremonyPaths.attempt,
                abortPath: profile.ceremonyPaths.abort, members: profile.members,
                faceTokenStale: profile.errors.faceTokenStale.code,
                attestationRequired: profile.errors.attestationRequired.code,
                attestationFailed: profile.errors.attestationFailed.code))
    }

    /// The names of the built-in profile.
    public static let builtIn = SignInWire(.builtIn)

    /// Whether all names are the same.
    public static func == (left: SignInWire, right: SignInWire) -> Bool {
        left.shared === right.shared || left.names == right.names
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
    /// Reads the names of a stored flow: all, or none where they are the built-in ones.
    public init(from decoder: any Decoder) throws {
        let isBuiltIn = try decoder.container(keyedBy: Names.CodingKeys.self).allKeys.isEmpty
        if isBuiltIn { self = .builtIn } else { shared = Shared(try Names(from: decoder)) }
    }

    /// Writes the names, or none where they are the built-in ones: every stored flow has a copy.
    public func encode(to encoder: any Encoder) throws {
        if self == .builtIn {
            _ = encoder.container(keyedBy: Names.CodingKeys.self)
        } else {
            try names.encode(to: encoder)
        }
    }
}

extension SignInWire.Names {
    /// Reads them; a flow that was stored before there was a name has the built-in one.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let builtIn = SignInWire.builtIn.names
        func text(_ key: CodingKeys, _ standard: String) throws -> String {
            try container.decodeIfPresent(String.self, forKey: key) ?? standard
        }
        self.init(
            faceTokenPath: try text(.faceTokenPath, builtIn.faceTokenPath),
            attemptPath: try text(.attemptPath, builtIn.attemptPath),
            abortPath: try text(.abortPath, builtIn.abortPath),
            members: try container.decodeIfPresent(SenseCryptProfile.Members.self, forKey: .members)
                ?? builtIn.members,
            faceTokenStale: try text(.faceTokenStale, builtIn.faceTokenStale),
            attestationRequired: try text(.attestationRequired, builtIn.attestationRequired),
            attestationFailed: try text(.attestationFailed, builtIn.attestationFailed))
    }
}
