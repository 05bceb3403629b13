import Encoding
import Foundation
import Testing

@testable import Scenario

/// Where the repository's scenarios are.
enum Fixtures {
    static let scenarios = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures/scenarios").path()

    /// The scenarios; empty where there are none, which is what the loop must notice.
    static let all: [Scenario] = (try? ScenarioLibrary(paths: [scenarios]))?.scenarios ?? []
}

@Suite("The library of scenarios")
struct LibraryTests {
    @Test("every file of the library holds", arguments: Fixtures.all.indices)
    func holds(index: Int) async {
        let scenario = Fixtures.all[index]
        let result = await ScenarioSuite().play(scenario)
        guard case .passed = result.outcome else {
            Issue.record("\(scenario.file): \(result.outcome)")
            return
        }
    }

    @Test("the library is there, and no file of it is broken") func isThere() throws {
        let library = try ScenarioLibrary(paths: [Fixtures.scenarios])
        #expect(library.scenarios.count >= 20)
        #expect(library.broken.map(\.description) == [])
    }

    @Test("an empty folder is no library") func empty() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "scenarios-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(throws: LibraryError.empty(folder)) { try ScenarioLibrary(paths: [folder]) }
        #expect(throws: LibraryError.notThere(folder + "x")) { try ScenarioLibrary(paths: [folder + "x"]) }
    }

    @Test("every file stands in a folder, names its schema, and no name is given twice") func tidy() throws {
        #expect(Set(Fixtures.all.map(\.name)).count == Fixtures.all.count)
        for scenario in Fixtures.all {
            let text = try ScenarioLibrary.text(of: scenario.file)
            #expect(text.contains("$schema: \"../scenario.schema.json\""), "\(scenario.file)")
            let folder = scenario.file.split(separator: "/").suffix(2).first.map(String.init)
            #expect(folder == scenario.group.replacing(" ", with: "-"), "\(scenario.file)")
        }
    }
}

@Suite("The published schema")
struct SchemaTests {
    private var published: JSON {
        get throws {
            let data = try #require(FileManager.default.contents(atPath: Fixtures.scenarios + "/scenario.schema.json"))
            return try JSON(parsing: Array(data), depthLimit: 64)
        }
    }

    @Test("it is the one the reader checks by") func same() throws {
        #expect(try published == Scenario.schema)
    }

    @Test("a key is known to the schema if and only if the reader takes it") func keys() throws {
        try compare(Format.file, try published, at: "")
    }

    /// Walks both at once; a name is put in every object, and the reader's verdict compared with the schema's.
    private func compare(_ shape: Shape, _ schema: JSON, at path: String) throws {
        switch shape {
        case .object(let keys):
            let known = schema["properties"]?.object?.names ?? []
            #expect(schema["additionalProperties"] == false, "\(path)")
            for name in known + ["no_such_key"] {
                var check = ShapeCheck(file: "a")
                check.check(try JSON5Reader.read("{ '\(name)': null }"), against: shape, at: path)
                let isTaken = !check.faults.contains { $0.message.contains("there is no '\(name)'") }
                #expect(isTaken == (name != "no_such_key"), "\(path).\(name)")
            }
            #expect(Set(known) == Set(keys.map(\.name)), "\(path)")
            #expect(schema["required"]?.array?.compactMap(\.string) ?? [] == keys.filter(\.isRequired).map(\.name))
            for key in keys {
                let part = try #require(schema["properties"]?[key.name])
                #expect(part["description"]?.string?.isEmpty == false, "\(path).\(key.name)")
                try compare(key.shape, part, at: "\(path).\(key.name)")
            }
        case .list(let shape): try compare(shape, try #require(schema["items"]), at: path + "[]")
        case .map(let shape): try compare(shape, try #require(schema["additionalProperties"]), at: path + ".*")
        case .either(let shapes):
            let parts = try #require(schema["anyOf"]?.array)
            #expect(parts.count == shapes.count)
            for (shape, part) in zip(shapes, parts) { try compare(shape, part, at: path) }
        case .text(let words): #expect(schema["enum"]?.array?.compactMap(\.string) ?? [] == words, "\(path)")
        case .form, .number, .fraction, .flag, .anything, .nothing: break
        }
    }
}
