import Encoding
import Foundation
import Profiles

/// `Fixtures/profiles/other-names.json5`: the built-in profile with another name for everything it names.
enum OtherNames {
    /// The document.
    static func document() throws -> [UInt8] {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        return Array(try Data(contentsOf: here.appending(path: "../../Fixtures/profiles/other-names.json5")))
    }

    /// The profile.
    static func profile() throws -> SenseCryptProfile { try SenseCryptProfile(json5: try document()) }

    /// The names of claims and of members in a profile's document.
    static func names(_ document: JSON) -> (claims: Set<String>, members: Set<String>) {
        let members = document["members"]?.object?.members.flatMap { $0.value.object?.members ?? [] } ?? []
        return (
            Set((document["ceremony"]?["claims"]?.object?.members ?? []).compactMap(\.value.string)),
            Set(members.compactMap(\.value.string))
        )
    }
}
