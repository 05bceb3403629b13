import Foundation

/// What is wrong with a profile document.
public enum ProfileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no JSON5, or a value is missing or of another type; what the reader says, in words.
    case unreadable(String)
    /// A name of the wire is empty: its path in the document.
    case emptyName(String)
    /// Two names of one object of the wire are the same: the object's path, the two fields, and the name.
    case sameName(object: String, fields: [String], name: String)
    /// A name of the wire is one that a standard gives to something else in the same object.
    case standardName(field: String, name: String)

    /// The rule and the value, in words; names the field where it is known.
    public var description: String {
        switch self {
        case .unreadable(let why): why
        case .emptyName(let field): "\(field): a name of the wire is not empty, and this one is \"\""
        case .sameName(let object, let fields, let name):
            "\(object): no two names of one object are the same, and \(fields.joined(separator: " and ")) are both \"\(name)\""
        case .standardName(let field, let name):
            "\(field): a name of the wire is none that a standard gives to something else there, and this one is \"\(name)\""
        }
    }

    /// A stable name for this error.
    public var code: String {
        switch self {
        case .unreadable: "profile.unreadable"
        case .emptyName: "profile.name_empty"
        case .sameName: "profile.name_twice"
        case .standardName: "profile.name_standard"
        }
    }
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
    /// Throws with the name of a member that is missing or of another type, and where a name of the wire is empty, stands
    /// twice in one object, or is a standard's.
    public init(json5 document: [UInt8]) throws(ProfileError) {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            self = try decoder.decode(SenseCryptProfile.self, from: Data(document))
        } catch {
            throw .unreadable(String(describing: error))
        }
        try NameRules.check(document)
    }
}
