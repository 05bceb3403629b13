import Encoding
import Testing

/// A profile in which every name of the wire that it states is another: each goes by its path in the document, so that
/// no two of the whole profile are the same.
enum OtherNames {
    /// The document of a profile with the names changed, as JSON.
    static func renamed(_ document: String) throws -> JSON {
        var profile = try #require(try JSON5Reader.read(document).json.object)
        var ceremony = try #require(profile["ceremony"]?.object)
        for table in ["claims", "outcomes", "platforms"] {
            ceremony[table] = renamed(try #require(ceremony[table]), "ceremony_\(table)")
        }
        profile["ceremony"] = .object(ceremony)
        profile["members"] = renamed(try #require(profile["members"]), "members")
        return .object(profile)
    }

    private static func renamed(_ json: JSON, _ path: String) -> JSON {
        guard let object = json.object else { return .string(path) }
        return .object(JSONObject(object.members.map { ($0.name, renamed($0.value, "\(path)_\($0.name)")) }))
    }
}
