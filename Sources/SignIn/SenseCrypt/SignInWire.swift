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
    /// The `error` of a completion whose generation is not the current one.
    public let faceTokenStale: String

    /// Takes the names from a profile.
    public init(_ profile: SenseCryptProfile) {
        faceTokenPath = profile.ceremonyPaths.faceToken
        attemptPath = profile.ceremonyPaths.attempt
        abortPath = profile.ceremonyPaths.abort
        faceTokenStale = profile.errors.faceTokenStale.code
    }

    /// The names of the built-in profile.
    public static let builtIn = SignInWire(.builtIn)
}
