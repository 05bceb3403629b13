import Foundation
import Profiles

/// `Fixtures/profiles/other-names.json5`: the built-in profile with another name for everything it names.
enum OtherNames {
    /// The profile.
    static func profile() throws -> SenseCryptProfile {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let file = here.appending(path: "../../Fixtures/profiles/other-names.json5")
        return try SenseCryptProfile(json5: Array(try Data(contentsOf: file)))
    }
}
