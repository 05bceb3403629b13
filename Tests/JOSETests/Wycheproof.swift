import Encoding
import Foundation
import Testing

/// The Wycheproof sets, in the folder `wycheproof` of the one that UNDERSTUDY_VECTORS names.
enum Wycheproof {
    static let folder = ProcessInfo.processInfo.environment["UNDERSTUDY_VECTORS"]
    static let isPresent = folder != nil
    static let skipped: Comment = "UNDERSTUDY_VECTORS does not name the folder of vectors"

    static func groups(_ file: String) throws -> [JSON] {
        let data = try Data(contentsOf: URL(fileURLWithPath: #require(folder) + "/wycheproof/\(file)_test.json"))
        return try #require(JSON(parsing: [UInt8](data))["testGroups"]?.array)
    }
}
