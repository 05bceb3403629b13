import Encoding
import Foundation
import Testing

/// The Wycheproof sets, in the folder `wycheproof` of the one that UNDERSTUDY_VECTORS names.
enum Wycheproof {
    static let folder = ProcessInfo.processInfo.environment["UNDERSTUDY_VECTORS"]
    static let isPresent = folder != nil
    static let skipped: Comment = "UNDERSTUDY_VECTORS does not name the folder of vectors"

    /// One case, with the group it is in.
    struct Case {
        let id: Int64
        let group: JSON
        let members: JSON

        func bytes(_ name: String) throws -> [UInt8] { try Hex.decode(#require(members[name]?.string)) }

        /// Whether the set calls it valid; nil where it leaves the choice.
        var isValid: Bool? {
            switch members["result"]?.string {
            case "valid": true
            case "invalid": false
            default: nil
            }
        }

        var isAcceptable: Bool { members["result"] == "acceptable" }
        var comment: String { members["comment"]?.string ?? "" }
    }

    static func cases(_ file: String) throws -> [Case] {
        let data = try Data(contentsOf: URL(fileURLWithPath: #require(folder) + "/wycheproof/\(file)_test.json"))
        let set = try JSON(parsing: [UInt8](data))
        var cases: [Case] = []
        for group in try #require(set["testGroups"]?.array) {
            for members in try #require(group["tests"]?.array) {
                cases.append(Case(id: try #require(members["tcId"]?.int), group: group, members: members))
            }
        }
        #expect(Int64(cases.count) == set["numberOfTests"]?.int)
        return cases
    }

    /// Compares our verdict with the set's for every case that `selected` takes, and says how many those were.
    ///
    /// `explained` names the cases where we differ on purpose, with the reason; each must in fact differ.
    static func agree(
        _ file: String, where selected: (Case) -> Bool = { _ in true }, explained: [Int64: String] = [:],
        accepts: (Case) throws -> Bool
    ) throws -> Int {
        var compared = 0
        for test in try cases(file) where selected(test) {
            compared += 1
            let accepted = try accepts(test)
            guard let valid = test.isValid else {
                // The set leaves the choice; that we made it without a crash is the test.
                #expect(test.isAcceptable)
                continue
            }
            let agreed = accepted == valid
            #expect(agreed == (explained[test.id] == nil), "\(file) \(test.id) \(test.comment): accepted \(accepted)")
        }
        return compared
    }
}
