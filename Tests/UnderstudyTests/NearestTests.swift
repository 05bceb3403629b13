import Encoding
import Testing

@testable import understudy

/// The word somebody meant.
struct NearestTests {
    @Test(
        arguments: [
            ("sigin", "signin"), ("sginin", "signin"), ("signins", "signin"), ("serv", "serve"), ("evnets", "events"),
            ("demo", "demo"),
        ])
    func `a slip of the finger finds its word`(typed: String, meant: String) {
        #expect(Nearest.match(typed, among: ["signin", "serve", "events", "demo", "idp"]) == meant)
    }

    @Test(arguments: ["", "zzzz", "x", String(repeating: "a", count: 500)])
    func `what is near nothing finds nothing`(typed: String) {
        #expect(Nearest.match(typed, among: ["signin", "serve", "events"]) == nil)
    }

    @Test(
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3),
        ])
    func `the distance counts single changes`(left: String, right: String, expected: Int) {
        #expect(Nearest.distance(Array(left), Array(right)) == expected)
        #expect(Nearest.distance(Array(right), Array(left)) == expected)
    }
}
