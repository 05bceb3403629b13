import Control
import Encoding
import Foundation
import Testing

@testable import understudy

/// The narration of a recorded sign-in, word for word.
struct RecordedFlowTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/demo").standardizedFileURL.path

    private func recordedFlow() throws -> JSON {
        let bytes = try #require(PrivateFile.read(Self.folder + "/flow.json", limit: 1 << 20))
        return try JSON(parsing: bytes)
    }

    @Test(arguments: [("flow.txt", true), ("short.txt", false)])
    func `the recorded flow is told word for word`(file: String, verbose: Bool) throws {
        let flow = try recordedFlow()
        var narrator = FlowNarrator(verbose: verbose)
        let lines = (flow["steps"]?.array ?? []).flatMap { narrator.lines($0) } + FlowEnding.lines(flow, .plain)
        let told = lines.joined(separator: "\n") + "\n"
        let path = Self.folder + "/" + file
        if ProcessInfo.processInfo.environment["UNDERSTUDY_RECORD"] != nil {
            try told.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let expected = try #require(PrivateFile.read(path, limit: 1 << 20))
        #expect(told == String(decoding: expected, as: UTF8.self))
    }

    @Test func `the document of a sign-in holds the flow and the session`() throws {
        let ending = FlowEnding.document(try recordedFlow())
        #expect(ending.object?.names == ["result", "flow", "session"])
        #expect(ending["result"] == "signed_in")
        #expect(ending["session"]?["access_token"] == nil)
    }

    @Test func `a failed flow gives its reason and a parked one the way on`() {
        let failed: JSON = ["id": "f-1", "result": "failed", "reason": "faceMismatch", "message": "three times"]
        #expect(
            FlowEnding.document(failed)
                == ["result": "failed", "reason": "faceMismatch", "message": "three times", "flow": "f-1"])
        #expect(FlowEnding.lines(failed, .plain) == ["failed: faceMismatch: three times"])
        let parked: JSON = ["id": "f-2", "result": "parked", "cause": "network", "message": "nobody answered"]
        #expect(
            FlowEnding.document(parked)
                == ["result": "parked", "flow": "f-2", "cause": "network", "message": "nobody answered"])
        #expect(
            FlowEnding.lines(parked, .plain) == [
                "parked: network: nobody answered", "go on with: understudy flow retry f-2",
                "or give up: understudy flow cancel f-2",
            ])
    }
}
