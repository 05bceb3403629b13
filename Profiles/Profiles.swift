import Foundation

/// What is wrong with a profile document.
public struct ProfileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the reader says, in words; names the field where it knows one.
    public let description: String
    /// A stable name for this error.
    public var code: String { "profile.unreadable" }
}

extension SenseCryptProfile {
    /// The profile the program is built with, `Profiles/sensecrypt.json5`.
    ///
    /// Decoded once per process. A document that cannot be decoded is our own mistake and a crash; a
    /// test reads it too.
    public static let builtIn: SenseCryptProfile = {
        do {
            return try SenseCryptProfile(json5: builtInDocument)
        } catch {
            preconditionFailure("the built-in profile: \(error)")
        }
    }()

    /// The document of ``builtIn`` with its comments: where a profile of one's own begins.
    public static var builtInDocument: [UInt8] { PackageResources.sensecrypt_json5 }

    /// Reads a profile from JSON5 (comments, trailing commas, bare names); members are in snake case.
    ///
    /// Throws with the name of a member that is missing or of another type.
    public init(json5 document: [UInt8]) throws(ProfileError) {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            self = try decoder.decode(SenseCryptProfile.self, from: Data(document))
        } catch {
            throw ProfileError(description: String(describing: error))
        }
    }
}
